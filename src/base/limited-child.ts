import { spawn } from "node:child_process";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { cancelled, throwIfCancelled } from "./abort.ts";
import { BoundedOutput } from "./streams/collected-bytes.ts";
import { kibibyte } from "./bytes.ts";

/** A program that reads hostile input, and what it may take. */
export interface LimitedChild {
  /** What it is, for messages: "The TypeScript compiler". */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Its standard input. */
  readonly input: string | Uint8Array;
  readonly timeLimitMs: number;
  /** Address space. */
  readonly memoryLimitBytes: number;
  /** More on its standard output ends it. */
  readonly maxOutputBytes: number;
}

export interface LimitedChildResult {
  /** Null for one that was ended: by a signal, or for saying too much. */
  readonly exitCode: number | null;
  /** Whether its time ran out. */
  readonly timedOut: boolean;
  readonly stdout: Uint8Array;
  /** The first 64 KiB of it. */
  readonly stderr: string;
}

const maxErrorBytes = 64 * kibibyte;

/**
 * Where the shell knows no such limit (macOS has none for memory) the others remain. No core files: hostile input can
 * crash the program as often as it likes.
 */
const limited = 'ulimit -c 0 2>/dev/null; ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"';

/**
 * Runs a program of our own on hostile input, in a process with limits on time, processor time, memory and output.
 * @throws CANCELLED; INTERNAL when the program cannot be started
 */
export async function runLimitedChild(child: LimitedChild, signal?: AbortSignal): Promise<LimitedChildResult> {
  throwIfCancelled(signal);
  const deadline = AbortSignal.timeout(child.timeLimitMs);
  const flood = new AbortController();
  const [program, ...rest] = limitedCommand(child);
  const running = spawn(program, rest, {
    env: child.environment,
    cwd: "/",
    stdio: "pipe",
    killSignal: "SIGKILL",
    windowsHide: true,
    signal: AbortSignal.any([deadline, flood.signal, ...(signal === undefined ? [] : [signal])]),
  });
  const stdout = new BoundedOutput(child.maxOutputBytes);
  const stderr = new BoundedOutput(maxErrorBytes);
  running.stdout.on("data", (bytes: Buffer) => {
    stdout.append(bytes);
    if (stdout.truncated) flood.abort();
  });
  running.stderr.on("data", (bytes: Buffer) => stderr.append(bytes));
  running.stdin.on("error", () => {
    // It may end before it has read everything; its exit code says why.
  });
  running.stdin.end(child.input);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  let failure: unknown = null;
  const isEnded = (): boolean => deadline.aborted || flood.signal.aborted || signal?.aborted === true;
  running.once("error", (error) => (failure = error));
  running.once("exit", () => {
    if (!isEnded()) return;
    // Should it have left a process behind that holds them.
    running.stdout.destroy();
    running.stderr.destroy();
  });
  running.once("close", (exitCode) => {
    if (failure === null || isEnded()) resolve(exitCode);
    else reject(new GloveboxError("INTERNAL", `${child.name} could not be started.`, { cause: failure }));
  });
  const exitCode = await promise;
  if (signal?.aborted) throw cancelled(signal.reason);
  return {
    exitCode: stdout.truncated ? null : exitCode,
    timedOut: deadline.aborted,
    stdout: stdout.bytes(),
    stderr: stderr.text(),
  };
}

/**
 * The command with its limits before it, where a shell can set them. Processor time is limited too, should the child outlive
 * its parent.
 */
export function limitedCommand(
  child: Pick<LimitedChild, "platform" | "command" | "memoryLimitBytes" | "timeLimitMs">,
): readonly [string, ...string[]] {
  if (child.platform === "win32") return child.command;
  const limits = [String(child.memoryLimitBytes / kibibyte), String(Math.ceil(child.timeLimitMs / 1000))];
  return ["/bin/sh", "-c", limited, "sh", ...limits, ...child.command];
}
