import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

const shell = process.platform === "win32";

/** Commands of the development dependencies come first. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`,
});

/** Runs a command of the development dependencies, passes its output through, and returns its exit code. */
export function runTool(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { cwd: root, env: environment(), stdio: "inherit", shell });
  if (error) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}

export interface StartToolOptions {
  /** It is killed when it takes longer. */
  readonly boundMs?: number;
  /** Environment variables to add, or, with undefined, to leave out. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

/** Like `runTool`, but does not block. */
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
