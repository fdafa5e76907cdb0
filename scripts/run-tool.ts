import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

const shell = process.platform === "win32";

/** The development dependencies' commands come first. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`,
});

/** Runs a command of the development dependencies, its output on ours, and gives its exit code. */
export function runTool(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { cwd: root, env: environment(), stdio: "inherit", shell });
  if (error) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}

export interface StartToolOptions {
  /** Ended when it takes longer. */
  readonly boundMs?: number;
  /** Variables of it alone. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The same beside other work. */
export async function startTool(
  command: string,
  args: readonly string[],
  { boundMs, variables }: StartToolOptions = {},
): Promise<number> {
  const env = { ...environment(), ...variables };
  const child = spawn(command, args, { cwd: root, env, stdio: "inherit", shell, timeout: boundMs });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? 1;
  } catch (error) {
    console.error(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
