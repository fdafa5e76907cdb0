import { startTool } from "./run-tool.ts";

const checks: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["types of the console", "tsc", ["-p", "src/console/tsconfig.json"]],
  ["lint", "oxlint", []],
  ["format", "oxfmt", ["--check"]],
  ["unused code and dependencies", "knip", ["--no-progress", "--treat-config-hints-as-errors"]],
];

/** Runs every static check, one after another, even after one has failed; returns the names of those that failed. */
export async function runChecks(): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, command, args] of checks) {
    const passed = (await startTool(command, args)) === 0;
    console.log(`${passed ? "ok  " : "FAIL"} ${name} (${[command, ...args].join(" ")})`);
    if (!passed) failed.push(name);
  }
  return failed;
}
