import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** How long a tool may take to end after it wrote its last file. */
const lingerMs = 60_000;

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
  /** The last file that it writes: it is killed when it has not ended a minute after that, and counts as one that ended well. */
  readonly lastFile?: string;
  /** Environment variables to add, or, with undefined, to leave out. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

/** Like `runTool`, but does not block. */
export async function startTool(
  command: string,
  args: readonly string[],
  { boundMs, lastFile, variables }: StartToolOptions = {},
): Promise<number> {
  const env = { ...environment(), ...variables };
  const child = spawn(command, args, { cwd: root, env, stdio: "inherit", shell, timeout: boundMs });
  const isLate = (): boolean =>
    lastFile !== undefined && existsSync(lastFile) && Date.now() - statSync(lastFile).mtimeMs >= lingerMs;
  const watch = setInterval(() => {
    if (!isLate()) return;
    console.error(`${command} wrote its last file a minute ago and is killed.`);
    child.kill("SIGKILL");
  }, 5_000);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? (isLate() ? 0 : 1);
  } catch (error) {
    console.error(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    clearInterval(watch);
  }
}
