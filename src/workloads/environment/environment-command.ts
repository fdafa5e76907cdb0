import { feedStream } from "../../base/streams/chunks.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { Process } from "../../engines/engine.ts";
import {
  keptBytes,
  watchProcess,
  type ProcessEnd,
  type ProcessToWatch,
  type RunLimits,
  type KeptOutput,
} from "../run/watch-process.ts";
import { formatBytes } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { JudgedRun } from "../run/conclude-run.ts";
import { explainEnding, secretWarnings, type RunWords } from "../run/explain-ending.ts";
import type { DiskExcess } from "../run/watch-disk.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import { projectFolder } from "./environment-spec.ts";
import { networkWarnings } from "../run/network-report.ts";
import type { EnvironmentContainer, Started } from "./environment-container.ts";
import { toolingWarnings, type ToolingReport } from "../run/explain-tooling.ts";

type CommandWatch = Omit<ProcessToWatch<RingOutput>, "keep" | "input"> &
  Omit<RunLimits, "drainMs" | "end"> & {
    /** Its standard input; missing: empty. */
    readonly stdin?: AsyncIterable<Uint8Array> | undefined;
    /** Newest bytes of each stream that are kept; default 64 KiB. */
    readonly keptBytes?: number | undefined;
    /** Ends the command and everything it started. */
    readonly end: (process: Process) => Promise<void>;
  };

/**
 * How long to wait for further output of a command that has ended: processes it left behind may keep its streams open.
 */
const drainMs = 1_000;

/** Watches a command to its end. @throws what broke its streams */
export async function watchCommand(watch: CommandWatch): Promise<ProcessEnd<RingOutput>> {
  const { process, stdin } = watch;
  if (stdin === undefined) process.stdin.end();
  // A source that fails ends the input; the command continues.
  else feedStream(process.stdin, stdin, process.exit).catch(() => process.stdin.end());
  const watched = watchProcess({ ...watch, keep: () => new RingOutput(watch.keptBytes ?? keptBytes.command) });
  return watched.untilEnd({ ...watch, drainMs, end: () => watch.end(process) });
}

/** The limits of a command, and why its container was ended. */
interface ExplainedCommand {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** The files for which the container was ended; null if it was not. */
  readonly overDisk: DiskExcess | null;
}

const words: RunWords = {
  subject: "command",
  sandbox: "The environment's container",
  suggestions: {
    lost: "Run the command again: it starts a new container, with the project as it is on the host.",
  },
  outOfMemory: (limit) => `A process ran out of the ${limit} of memory that all commands of the environment share.`,
};

/** The error of a command, or null if there is nothing to explain. */
export function explainCommand(run: JudgedRun<KeptOutput>, command: ExplainedCommand): GloveboxError | null {
  const { overDisk } = command;
  if (run.outcome === "sandbox_lost" && overDisk !== null) return diskFull(overDisk);
  return explainEnding(run, words, command);
}

/** The system's errors for a file that is a mount point, as worded by C libraries, Node and Python. */
const refusals = /device or resource busy|resource busy or locked|read-only file system|\bEBUSY\b|\bEROFS\b/i;

/** Paths, from the project's root, that mounts lock. */
export function lockedPaths(locks: readonly MountSpec[]): readonly string[] {
  return locks.map(({ target }) => target.slice(projectFolder.length + 1));
}

/** Names in one sentence. */
const maxNames = 5;

/**
 * Detects that a command ran into a lock: git and hook installers only say that a file is busy, some of them with exit
 * code 0. `locked` are paths from the project's root.
 */
export function lockWarnings(locked: readonly string[], output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => refusals.test(line));
  const met = locked.filter((path) => lines.some((line) => line.includes(path)));
  if (met.length === 0) return [];
  const names = met.slice(0, maxNames).join(", ");
  return [
    `tooling_files is locked here: commands cannot change or rename ${names}. Git commands that write to its configuration and installers of hooks fail for it, some with exit code 0; run them on the host, or create an environment with tooling_files "named".`,
  ];
}

/** The warning for a caller that knows another container. */
export const replacedWarning =
  "The environment has a new container: files outside /workdir are as they were at the start, and its background processes have ended.";

interface EndedCommand {
  readonly judged: JudgedRun<KeptOutput>;
  /** Whether its container differs from the one the caller knows, or has been replaced since. */
  readonly isElsewhere: boolean;
  readonly tooling: ToolingReport;
  readonly locks: EnvironmentContainer["locks"];
  readonly setuidCount: number;
  readonly redaction: Started["redaction"];
}

/** What the caller of a command should know in addition to its result, one sentence each. */
export function commandWarnings(command: EndedCommand): readonly string[] {
  const { judged, isElsewhere, tooling, locks, setuidCount, redaction } = command;
  const { end } = judged;
  return [
    ...(isElsewhere ? [replacedWarning] : []),
    ...networkWarnings(judged.networkReport, judged.outcome),
    ...toolingWarnings(tooling),
    ...lockWarnings(lockedPaths(locks), `${end.stdout.text()}\n${end.stderr.text()}`),
    ...setuidWarnings(setuidCount),
    ...secretWarnings(redaction),
  ];
}

function diskFull({ what, value, limit, inProject }: DiskExcess): GloveboxError {
  if (what === "files") {
    const grown = inProject === 0 ? "its own files outside /workdir" : "the project";
    return new GloveboxError(
      "SANDBOX_LOST",
      `The environment's container was ended: ${grown} grew by ${value} files and folders, more than the limit of ${limit}.`,
      {
        suggestion:
          inProject === 0
            ? "Make fewer files outside /workdir."
            : "Remove from the project on the host what should not be there, and make fewer files in /workdir.",
        context: { limit_files: limit, files: value, retryable: false },
      },
    );
  }
  const part = inProject === 0 ? "" : ` (of it the project grew by ${formatBytes(inProject)})`;
  return new GloveboxError(
    "SANDBOX_LOST",
    `The environment's container was ended: its files took ${formatBytes(value)}${part}, more than its limit of ${formatBytes(limit)}.`,
    {
      suggestion:
        inProject === 0
          ? "Write less outside /workdir, or create an environment with a larger limits.disk_mb."
          : "Write less, or create an environment with a larger limits.disk_mb; what was written to the project is still on the host.",
      context: { limit_mb: Math.round(limit / 1024 / 1024), retryable: false },
    },
  );
}

/** What a caller should know about setuid bits that were removed from the project's files. */
function setuidWarnings(count: number): readonly string[] {
  if (count === 0) return [];
  return [`The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project.`];
}
