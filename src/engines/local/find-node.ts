import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";

/** The host's Node. */
export interface NodeInstallation {
  readonly executable: string;
  /** `24.21.0`. */
  readonly version: string;
  /** Further options of this version that close a gap. */
  readonly options: readonly string[];
}

export interface FindNodeOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nodePath?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Its databases open files by SQL, and its inspector listens when it is sent a signal. */
const wantedOptions = ["--no-experimental-sqlite", "--disable-sigusr1"];

/** Asks the interpreter itself, because what the PATH has may be a shim, another program of that name, or too old. */
const question = `
const has = (option) => process.allowedNodeEnvironmentFlags.has(option);
const isNode = process.versions.bun === undefined && has("--permission");
console.log(JSON.stringify(isNode ? { executable: process.execPath, version: process.versions.node, options: ${JSON.stringify(wantedOptions)}.filter(has) } : null));
`;

const answerWithinMs = 10_000;

/**
 * Executable of the Node that runs Glovebox, by its real path; where something else runs Glovebox, the one on the PATH.
 * Null when there is none. Asked only if its name does not already tell, because asking takes longer than many a
 * program.
 */
export async function findOwnNode(options: FindNodeOptions): Promise<string | null> {
  const { nodePath } = options;
  if (typeof nodePath === "string" && /^node(js)?$/.test(basename(nodePath))) {
    try {
      return realpathSync(nodePath);
    } catch {
      // It disappeared after it was started: another one may have taken its place.
    }
  }
  const found = await findNode(options);
  return found === null ? null : realpathSync(found.executable);
}

/** The host's Node with a permission model, or null when it has none that answers. */
export async function findNode(options: FindNodeOptions): Promise<NodeInstallation | null> {
  const { nodePath } = options;
  if (nodePath === null) return null;
  for (const program of new Set([nodePath ?? "node", "node"])) {
    const found = await ask(program, options);
    if (found !== null) return found;
  }
  return null;
}

async function ask(program: string, { environment, signal }: FindNodeOptions): Promise<NodeInstallation | null> {
  const { NODE_OPTIONS: _, ...rest } = environment;
  try {
    const { stdout } = await promisify(execFile)(program, ["-e", question], {
      // Windows looks for a program there first.
      cwd: "/",
      env: rest,
      timeout: answerWithinMs,
      ...(signal !== undefined && { signal }),
    });
    return JSON.parse(stdout) as NodeInstallation | null;
  } catch {
    // Missing, broken or something else: then there is none for us.
    return null;
  }
}
