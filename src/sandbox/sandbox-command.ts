import { untilCancelled } from "../base/abort.ts";
import { BoundedOutput } from "../base/bounded-output.ts";
import type { CallOptions, ExecSpec, Process } from "../engines/engine.ts";

/** The part of a sandbox that commands need. */
export interface CommandSandbox {
  exec(spec: ExecSpec, options?: CallOptions): Promise<Process>;
}

/** A command that Glovebox itself runs in a sandbox whose program may be hostile. */
export interface SandboxCommand {
  readonly command: readonly string[];
  /** Output beyond it is dropped. */
  readonly maxOutputBytes: number;
  /** After it the command is left to the sandbox's own end: it may hang in a pipe that the program put in its way. */
  readonly timeLimitMs: number;
  /** Its standard input; default: empty. */
  readonly input?: Uint8Array | undefined;
}

export interface SandboxCommandResult {
  /** Null when the time limit came first. */
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
  const process = await sandbox.exec({ command, environment: { LC_ALL: "C" }, concurrent: true }, { signal });
  process.stdin.end(input);
  const stdout = new BoundedOutput(maxOutputBytes);
  const stderr = new BoundedOutput(4096);
  const finished = drain(process, { stdout, stderr });
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, timeLimitMs, null);
  try {
    const exitCode = await untilCancelled(Promise.race([finished, late]), signal);
    return { exitCode, stdout, stderr };
  } finally {
    clearTimeout(timer);
    finished.catch(() => {
      // Told above, unless the time limit or the caller came first.
    });
  }
}

async function drain(process: Process, kept: Readonly<Record<"stdout" | "stderr", BoundedOutput>>): Promise<number> {
  for await (const { stream, bytes } of process.output) kept[stream].append(bytes);
  return (await process.exit).exitCode;
}
