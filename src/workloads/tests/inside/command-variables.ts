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
 * Variables that add a machine-readable reporter beside the human output, whatever starts the runner. Those of the caller
 * stay in force, and a reporter takes ours out of them before its tests start anything. With names in `only` those tests
 * alone are run.
 */
export function reporterVariables(given: Variables, wanted: WantedReporters, only: readonly string[]): Variables {
  const nodeTest = [
    "--test-reporter=spec --test-reporter-destination=stdout",
    `--test-reporter=${reportsFolder}/node-test-reporter.mjs --test-reporter-destination=${reportsFolder}/nothing`,
  ].join(" ");
  const python = `${reportsFolder}/python`;
  const ownPath = given["PYTHONPATH"];
  return {
    GLOVEBOX_TEST_REPORTS: reportsFolder,
    ...added(
      given,
      "NODE_OPTIONS",
      `--require=${reportsFolder}/attach.cjs${wanted.nodeTest ? ` ${nodeTest}` : ""}${onlyOption(only)}`,
    ),
    PYTHONPATH: ownPath === undefined ? python : `${python}:${ownPath}`,
    ...(wanted.bun
      ? added(
          given,
          "BUN_OPTIONS",
          `--reporter=junit --reporter-outfile=${reportsFolder}/${bunReport}${onlyOption(only)}`,
        )
      : {}),
    ...onlyVariables(only),
  };
}

/** Our options before those of the caller, and by themselves under a name of ours, by which they are taken out again. */
function added(given: Variables, name: string, ours: string): Variables {
  const own = given[name];
  return { [name]: own === undefined ? ours : `${ours} ${own}`, [`GLOVEBOX_${name}`]: ours };
}

/** Whether a line of a shell or of `package.json` chooses reporters of Node's test runner by itself. */
export function choosesNodeReporter(text: string): boolean {
  return /--test-reporter\b/.test(text);
}
