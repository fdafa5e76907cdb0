import { untilCancelled } from "../../base/abort.ts";
import { feedStream } from "../../base/streams/feed-stream.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import { isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { SignalToSend } from "../contract/operation-event.ts";
import type { AddedProgram, ReachedSandbox } from "../../sandbox/added-program.ts";
import { sandboxRemoved } from "./sandbox-errors.ts";

export interface FollowProgram {
  /** Missing: the program's input is empty. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Awaited before more is read, so that a slow listener slows the program. */
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Sent to the program as they come; signals that its engine cannot send are skipped. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
  /** Where it runs. */
  readonly sandbox: Pick<ReachedSandbox, "id" | "isRemoved">;
}

/** The exit code of a program that SIGKILL ended. */
const killedExitCode = 137;

/**
 * Follows an added program until it and everything it started has ended; resolves to its exit code.
 * @throws CANCELLED once it has been ended for the caller; SANDBOX_LOST, which says so if the sandbox was removed
 */
export async function followProgram(
  program: AddedProgram,
  { input, onOutput, signal, signals, sandbox }: FollowProgram,
): Promise<number> {
  const read = async (): Promise<void> => {
    for await (const chunk of program.output) await onOutput(chunk);
  };
  if (input === undefined) program.stdin.end();
  const fed = input === undefined ? Promise.resolve() : feedStream(program.stdin, input, program.exit);
  fed.catch(() => {
    // A source that fails ends the input; the program continues.
    program.stdin.end();
  });
  void passSignals(program, signals);
  try {
    await untilCancelled(read(), signal);
    const { exitCode } = await untilCancelled(program.exit, signal);
    await untilCancelled(program.settled, signal);
    if (exitCode === killedExitCode && sandbox.isRemoved) throw sandboxRemoved(sandbox.id);
    return exitCode;
  } catch (error) {
    await program.end();
    throw isSandboxLoss(error) && sandbox.isRemoved ? sandboxRemoved(sandbox.id) : error;
  }
}

async function passSignals(program: AddedProgram, signals: FollowProgram["signals"]): Promise<void> {
  if (signals === undefined) return;
  for await (const signal of signals) {
    const sent = signal === "SIGKILL" ? program.kill(signal) : program.signal?.(signal);
    // If it cannot be sent, the program has ended or will end with its caller.
    await sent?.catch(() => undefined);
  }
}
