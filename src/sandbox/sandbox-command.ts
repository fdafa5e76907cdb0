import { untilCancelled } from "../base/abort.ts";
import { BoundedOutput } from "../base/streams/collected-bytes.ts";
import type { CallOptions, ExecSpec, Process } from "../engines/engine.ts";
import { runsInterpretersOnly, type Capabilities } from "../engines/capabilities.ts";

/** The part of a sandbox that commands need. */
export interface CommandSandbox {
  exec(spec: ExecSpec, options?: CallOptions): Promise<Process>;
}

/** A command that Glovebox itself runs in a sandbox whose program may be hostile. */
interface SandboxCommand {
  readonly command: readonly string[];
  /** More than this ends the command: only what came before it is read. */
  readonly maxOutputBytes: number;
  /** After it the command is killed: it may hang in a pipe that the program put in its way, or have been stopped by it. */
  readonly timeLimitMs: number;
  /** Its standard input; default: empty. */
  readonly input?: Uint8Array | undefined;
}

interface SandboxCommandResult {
  /** Null when a limit came first. */
  readonly exitCode: number | null;
  readonly stdout: BoundedOutput;
  /** First 4 KiB. */
  readonly stderr: BoundedOutput;
}

/** Runs a command to its end. @throws CANCELLED, SANDBOX_LOST, and what `exec` throws */
export async function runSandboxCommand(
  sandbox: CommandSandbox,
  { command, maxOutputBytes, timeLimitMs, input }: SandboxCommand,
  { signal }: CallOptions = {},
): Promise<SandboxCommandResult> {
  const environment = { LC_ALL: "C" };
  const process = await sandbox.exec({ command, environment, inheritsEnvironment: false }, { signal });
  process.stdin.end(input);
  const stdout = new BoundedOutput(maxOutputBytes);
  const stderr = new BoundedOutput(4096);
  const over = new AbortController();
  const finished = drain(process, { stdout, stderr }, over.signal);
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, timeLimitMs, null);
  let exitCode: number | null = null;
  try {
    exitCode = await untilCancelled(Promise.race([finished, late]), signal);
    return { exitCode, stdout, stderr };
  } finally {
    clearTimeout(timer);
    over.abort();
    finished.catch(() => {
      // Told above, unless the time limit or the caller came first.
    });
    if (exitCode === null) {
      // An engine that cannot get rid of its output does not let it end.
      void process.output[Symbol.asyncIterator]().return?.();
      process.kill("SIGKILL").catch(() => {
        // Where a single program cannot be killed, it ends with its sandbox.
      });
    }
  }
}

/**
 * Python for a program of ours, isolated from modules and settings in its folder and its variables. If our guard runs
 * in the interpreter, the guard keeps them out; it does not accept this option.
 */
export function isolatedPython(capabilities: Pick<Capabilities, "programs">): readonly string[] {
  return runsInterpretersOnly(capabilities) ? ["python3"] : ["python3", "-I"];
}

/** Null when there was more than is kept; what comes after that, or after the time limit, is not kept. */
async function drain(
  process: Process,
  kept: Readonly<Record<"stdout" | "stderr", BoundedOutput>>,
  over: AbortSignal,
): Promise<number | null> {
  const output = process.output[Symbol.asyncIterator]();
  for (let next = await output.next(); next.done !== true; next = await output.next()) {
    kept[next.value.stream].append(next.value.bytes);
    if (kept.stdout.truncated || over.aborted) return null;
  }
  return (await process.exit).exitCode;
}
