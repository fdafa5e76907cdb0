import { bunReport, reportsFolder } from "./folders.ts";
import { onlyOption, onlyVariables } from "./only-tests.ts";

type Variables = Readonly<Record<string, string>>;

/** Which reporters a command gets. */
export interface WantedReporters {
  /** False where a command brings reporters of its own, beside which Node takes no further ones by a variable. */
  readonly nodeTest: boolean;
  readonly bun: boolean;
}

/** Begins a shell line: Go and Cargo, which take no reporters, are found behind a program of ours. */
export const beginReporting: string = `. ${reportsFolder}/shell/begin.sh; `;

/**
 * Variables that add a machine-readable reporter beside the human output, whatever starts the runner; those of the caller
 * stay in force, and a reporter gives them back to what its tests start. With names in `only` those tests alone are run.
 */
export function reporterVariables(given: Variables, wanted: WantedReporters, only: readonly string[]): Variables {
  const nodeTest = [
    "--test-reporter=spec --test-reporter-destination=stdout",
    `--test-reporter=${reportsFolder}/node-test-reporter.mjs --test-reporter-destination=${reportsFolder}/nothing`,
  ].join(" ");
  return {
    GLOVEBOX_TEST_REPORTS: reportsFolder,
    ...added(
      given,
      "NODE_OPTIONS",
      `--require=${reportsFolder}/attach.cjs${wanted.nodeTest ? ` ${nodeTest}` : ""}${onlyOption(only)}`,
      " ",
    ),
    ...added(given, "PYTHONPATH", `${reportsFolder}/python`, ":"),
    ...added(given, "PYTEST_PLUGINS", "glovebox_report", ","),
    ...(wanted.bun
      ? added(
          given,
          "BUN_OPTIONS",
          `--reporter=junit --reporter-outfile=${reportsFolder}/${bunReport}${onlyOption(only)}`,
          " ",
        )
      : {}),
    ...onlyVariables(only),
  };
}

function added(given: Variables, name: string, ours: string, separator: string): Variables {
  const own = given[name];
  if (own === undefined) return { [name]: ours };
  return { [name]: `${ours}${separator}${own}`, [`GLOVEBOX_${name}`]: own };
}

/** Whether a line of a shell or of `package.json` chooses reporters of Node's test runner by itself. */
export function choosesNodeReporter(text: string): boolean {
  return /--test-reporter\b/.test(text);
}
