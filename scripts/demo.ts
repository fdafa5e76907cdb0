// Runs two programs through the command line, on the embedded engine, and shows the results.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ExecuteResponse } from "../src/operations/execute/execute-contract.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const indent = (text: string): string => text.trimEnd().replaceAll(/^/gm, "    ");

for (const file of ["scripts/demo/heights.py", "scripts/demo/shapes.ts"]) {
  console.log(`${file}\n${indent(readFileSync(`${root}${file}`, "utf8"))}\n`);
  const args = ["run", "--engine", "local", "--json", file];
  console.log(`$ ./bin/glovebox ${args.join(" ")}`);
  const { status, stdout, stderr } = spawnSync(`${root}bin/glovebox`, args, { cwd: root, encoding: "utf8" });
  if (stderr !== "") console.log(indent(stderr));
  const response = JSON.parse(stdout || "{}") as Partial<ExecuteResponse>;
  console.log(indent(`${response.stdout ?? ""}${response.stderr ?? ""}`));
  for (const warning of response.warnings ?? []) console.log(`  warning: ${warning}`);
  const { outcome = "refused", exit_code: exitCode, engine, isolation, duration_ms: durationMs } = response;
  console.log(
    `  outcome ${outcome}, exit code ${exitCode}, engine ${engine}, isolation ${isolation}, ${durationMs} ms\n`,
  );
  if (status !== 0) process.exitCode = 1;
}
