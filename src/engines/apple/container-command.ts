import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import { BoundedOutput, RingOutput } from "../../base/streams/collected-bytes.ts";
import { LineReader } from "../../base/streams/line-reader.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { floodError, lateError, notInstalled, refusal, unreadable, type CommandResult } from "./apple-errors.ts";

/** How long each call of the command may take, in milliseconds; then it is ended. */
export const deadlinesMs = {
  version: 9_000,
  status: 9_000,
  /** The service itself gives up a list after 10 s. */
  query: 20_000,
  /** Unpacking an image's files for the first time is part of it. */
  create: 55_000,
  signal: 20_000,
  /** Twice, with a kill between, within what a removal may take. */
  remove: 18_000,
  pull: 1_800_000,
  build: 3_600_000,
  serviceStop: 60_000,
  serviceStart: 90_000,
} as const;

export type Deadline = keyof typeof deadlinesMs;

/** One call of the command that ends by itself. */
interface CommandCall {
  /** What it is to do, for messages: "create a container". */
  readonly action: string;
  readonly words: readonly string[];
  /** Until when it must have ended, or it is; what it has begun may go on in the service. */
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
  /** Told each line of standard error as it comes. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** More on standard output is not an answer of the command: a list of a thousand containers has 3 MB. */
const maxAnswerBytes = 16 * mebibyte;
/** Of standard error the end is kept, where the command says what was wrong. */
const maxErrorBytes = 65_536;
/** Longest line that is passed on. */
const maxLineBytes = 4_096;

/** Apple's `container` command as it is found on the PATH of its environment. */
export class ContainerCommand {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #deadlinesMs: Readonly<Record<Deadline, number>>;

  constructor(environment: Readonly<Record<string, string>>, deadlinesMs: Readonly<Record<Deadline, number>>) {
    this.#environment = environment;
    this.#deadlinesMs = deadlinesMs;
  }

  /**
   * Starts the command with its three streams connected, and waits for nothing else.
   * In a process group of its own: signals that a terminal sends to ours are not for it.
   * @throws ENGINE_UNAVAILABLE when there is no such command
   */
  async open(words: readonly string[]): Promise<ChildProcessWithoutNullStreams> {
    // The parameters of a program that no engine could be given.
    if (words.some((word) => word.includes("\0"))) throw invalidField("command", "words without NUL", "one with NUL");
    const child = spawn("container", words, {
      env: this.#environment,
      stdio: "pipe",
      detached: true,
      windowsHide: true,
    });
    child.stdin.on("error", () => {
      // It may end before it has read everything.
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "E2BIG")
        throw invalidField("command", "parameters that one command line holds", "longer ones", error);
      throw notInstalled(error);
    }
    child.on("error", () => {
      // Of signals that could not be sent: its end shows what happened.
    });
    return child;
  }

  /**
   * Runs a call to its end, without input; it gets no more output than it can hold.
   * @throws CANCELLED, ENGINE_UNAVAILABLE after the deadline, for a flood, and when there is no such command
   */
  async run({ action, words, deadline: name, signal, onLine }: CommandCall): Promise<CommandResult> {
    throwIfCancelled(signal);
    const deadlineMs = this.#deadlinesMs[name];
    const deadline = AbortSignal.timeout(deadlineMs);
    const child = await this.open(words);
    child.stdin.end();
    const stdout = new BoundedOutput(maxAnswerBytes);
    const stderr = new RingOutput(maxErrorBytes);
    const lines = new LineReader(maxLineBytes, { keepsBeginning: true });
    const stop = (): void => endCommand(child);
    child.stdout.on("data", (bytes: Buffer) => {
      stdout.append(bytes);
      if (stdout.truncated) stop();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      stderr.append(bytes);
      if (onLine !== undefined) for (const line of lines.push(bytes)) onLine(line.bytes.toString("utf8"));
    });
    const given = AbortSignal.any(signal === undefined ? [deadline] : [deadline, signal]);
    given.addEventListener("abort", stop, { once: true });
    if (given.aborted) stop();
    // A process that it has left behind may hold its streams.
    child.once("exit", () => setTimeout(() => closeStreams(child), afterExitMs).unref());
    const [exitCode] = (await once(child, "close")) as [number | null];
    given.removeEventListener("abort", stop);
    if (signal?.aborted === true) throw cancelled(signal.reason);
    if (deadline.aborted) throw lateError(action, deadlineMs);
    if (stdout.truncated) throw floodError(action);
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
  }
}

/** How long streams may stay open after the end of the command. */
export const afterExitMs = 2_500;

export function closeStreams({ stdout, stderr }: ChildProcessWithoutNullStreams): void {
  stdout.destroy();
  stderr.destroy();
}

/** Ends the command and what it may have started on this machine; what it has begun in the service goes on. */
export function endCommand(child: ChildProcessWithoutNullStreams): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

/** Parses what a call wrote to standard output; if that fails, the engine cannot be used. */
export async function readAnswer<T>(
  command: ContainerCommand,
  call: CommandCall,
  read: (text: string) => T,
): Promise<T> {
  const result = await command.run(call);
  if (result.exitCode !== 0) throw refusal(call.action, result);
  try {
    return read(result.stdout);
  } catch (error) {
    throw unreadable(call.action, error);
  }
}
