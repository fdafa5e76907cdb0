import type { RuntimeName } from "../languages/language-table.ts";
import { cancelled, throwIfCancelled } from "../base/abort.ts";
import type { Engine, Process } from "../engines/engine.ts";
import type { Limits } from "../policy/limits.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { installFailed } from "./install-failed.ts";
import { installerPlan } from "./installer-plan.ts";
import type { MinAge } from "./min-age.ts";
import { packCommand, type PackageManager } from "./package-manager.ts";
import { diskBytesOf } from "./disk-bytes.ts";
import { layOutPythonSet } from "./set-layout.ts";
import { unpack, type Unpacked } from "./unpack.ts";

export interface Installation {
  readonly engine: Engine;
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly interpreter: RuntimeName;
  readonly manager: PackageManager;
  readonly ecosystem: Ecosystem;
  readonly specs: readonly string[];
  /** Null: versions of any age. */
  readonly minAge: MinAge | null;
  /** Receives what the caller should know about the installation, for people. */
  readonly onNote: (message: string) => void;
  /** Empty; gets what was installed, as `packageFolders` has it. */
  readonly folder: string;
}

/** Runs the installing tool in the sandbox, which has the registries until it ends. @throws PACKAGE_INSTALL_FAILED */
export type RunTool = (installation: Installation, sandbox: Sandbox, signal: AbortSignal) => Promise<void>;

export interface InstallDependencies {
  /** The installers' sandboxes, which take no run's slot. */
  readonly sandboxes: Sandboxes;
  readonly limits: Limits;
  readonly runTool: RunTool;
}

/** What a set may have at most: files and folders, and names of a path (those of real packages have 20). */
export const setBounds = { maxEntries: 200_000, maxDepth: 64 };
/** What a set has of its own: its folders, its record, and what leads Python to it. */
const ownEntries = 6;
/** Room on the disk that those take, in bytes. */
export const ownBytes = ownEntries * diskBytesOf(0);

/**
 * Installs packages in a place of their own, a sandbox wherever there is one (SPEC PK6). What was installed comes out as
 * a stream of files.
 * @throws PACKAGE_INSTALL_FAILED naming the packages and the reason, CANCELLED, and what opening a sandbox throws
 */
export async function install(
  installation: Installation,
  { sandboxes, limits, runTool }: InstallDependencies,
  caller: Caller,
): Promise<Unpacked> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([late, ...(caller.signal ? [caller.signal] : [])]);
  try {
    const plan = installerPlan(installation, limits);
    await using sandbox = await sandboxes.open(installation.engine, plan, { ...caller, signal });
    // Everything in it ends with it, and so do we.
    const onAbort = (): void => void sandbox.remove().catch(() => undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      throwIfCancelled(signal);
      await runTool(installation, sandbox, signal);
      return await unpackFrom(installation, sandbox, limits);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  } catch (error) {
    if (caller.signal?.aborted) throw cancelled(error);
    if (!late.aborted) throw error;
    throw installFailed(installation.specs, `it took longer than ${limits.timeoutMs / 1000} s`, { cause: error });
  }
}

async function unpackFrom(
  { manager, interpreter, ecosystem, specs, folder }: Installation,
  sandbox: Sandbox,
  { diskBytes }: Limits,
): Promise<Unpacked> {
  const process = await sandbox.exec({ command: await packCommand(manager, interpreter, sandbox) });
  process.stdin.end();
  try {
    const library = ecosystem === "python" ? await layOutPythonSet(folder) : folder;
    const limits = { ecosystem, ...setBounds, maxBytes: diskBytes };
    const unpacked = await unpack(stdoutOf(process), library, limits);
    return { ...unpacked, bytes: unpacked.bytes + ownBytes };
  } catch (cause) {
    const why = cause instanceof RangeError ? `: ${cause.message}` : "";
    throw installFailed(specs, `what was installed cannot be kept${why}`, { cause });
  }
}

async function* stdoutOf(process: Process): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { stream, bytes } of process.output) if (stream === "stdout") yield bytes;
}
