import { startTool } from "./run-tool.ts";

const checks: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["types of the console", "tsc", ["-p", "src/console/tsconfig.json"]],
  ["lint", "oxlint", []],
  ["format", "oxfmt", ["--check"]],
  ["unused code and dependencies", "knip", ["--no-progress", "--treat-config-hints-as-errors"]],
];

export const checkNames: readonly string[] = checks.map(([name]) => name);

/** Runs the named static checks, one after another, even after one has failed; returns the names of those that failed. */
export async function runChecks(names: readonly string[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, command, args] of checks.filter(([each]) => names.includes(each))) {
    const passed = (await startTool(command, args)) === 0;
    console.log(`${passed ? "ok  " : "FAIL"} ${name} (${[command, ...args].join(" ")})`);
    if (!passed) failed.push(name);
  }
  return failed;
}
