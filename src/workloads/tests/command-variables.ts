import { workFolder } from "../../policy/scratch.ts";
import { namesBehind } from "./report/test-report.ts";

/** What is ours: reporters and reports. */
export const reportsFolder: string = `${workFolder}/.glovebox`;
/** The one report of `bun test`. */
export const bunReport = "bun.xml";

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

/** Separates the groups of a test from its name, as `failures` shows it. */
const separator = " > ";

/**
 * Variables by which runners run some tests only, named as in `failures`; none for no names. They are variables because what
 * ran before a runner can change files, and not these.
 */
function onlyVariables(asked: readonly string[]): Readonly<Record<string, string>> {
  if (asked.length === 0) return {};
  const names = asked.flatMap(namesBehind);
  return {
    GLOVEBOX_TEST_ONLY: JSON.stringify({ names, pattern: patternOf(names) }),
    GLOVEBOX_TEST_ONLY_GO: `^(?:${[...new Set(names.map(goName))].map(escaped).join("|")})$`,
    GLOVEBOX_TEST_ONLY_CARGO: names.join("\n"),
  };
}

/** What Node's and Bun's own test runners take in their variables: one word without quotes. */
function onlyOption(names: readonly string[]): string {
  return names.length === 0 ? "" : ` --test-name-pattern=${patternOf(names.flatMap(namesBehind))}`;
}

/** A regular expression for full names with blanks between the groups, of letters, digits and what needs no quoting. */
function patternOf(names: readonly string[]): string {
  return `^(?:${names.map((name) => name.split(separator).map(escaped).join("(?:\\x20>)?\\x20")).join("|")})$`;
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The test that a subtest belongs to, without its package. */
function goName(name: string): string {
  return (name.split(separator).at(-1) ?? "").split("/")[0] ?? "";
}
