import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * Runs a command of the development dependencies, its output on ours, and gives its exit code; it is ended when it
 * takes longer than `boundMs`.
 */
export function runTool(command: string, args: readonly string[], boundMs?: number): number {
  const env = { ...process.env, PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}` };
  const shell = process.platform === "win32";
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: "inherit", shell, timeout: boundMs });
  if (error) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}
