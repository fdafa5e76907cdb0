import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../../../base/abort.ts";
import { RingOutput } from "../../../base/streams/ring-output.ts";
import { refusal } from "../command/command-errors.ts";
import { afterExitMs, closeStreams, type ContainerCommand } from "../command/container-command.ts";
import { CommandStream } from "./command-stream.ts";

/** Of what the command says for people, the end. */
const maxWordsBytes = 8_192;
/** How long the command may stay after its container's end. */
const settleMs = 5_000;

/** The `container start` that carries a supervisor's streams and tells how it ended. */
export class AttachedStart {
  readonly stream: Duplex;
  /**
   * Resolves with the first word of the supervisor.
   * @throws what prevented the start, as the command tells it
   */
  readonly begun: Promise<void>;
  /** Resolves with the end of the command. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessWithoutNullStreams;

  private constructor(child: ChildProcessWithoutNullStreams) {
    const words = new RingOutput(maxWordsBytes);
    this.#child = child;
    this.stream = new CommandStream(child);
    child.stderr.on("data", (bytes: Buffer) => words.append(bytes));
    this.ended = new Promise((resolve) => void child.once("close", () => resolve()));
    // Something that it has left behind may hold them.
    child.once("exit", () => setTimeout(() => closeStreams(child), afterExitMs).unref());
    this.begun = new Promise((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      void this.ended.then(() => {
        reject(refusal("start a container", { exitCode: child.exitCode, stdout: "", stderr: words.text() }));
      });
    });
    this.begun.catch(() => {
      // Whoever waits for it is told.
    });
  }

  /** @throws ENGINE_UNAVAILABLE when there is no such command */
  static async open(command: ContainerCommand, id: string): Promise<AttachedStart> {
    return new AttachedStart(await command.open(["start", "--attach", "--interactive", "--", id]));
  }

  /** The supervisor's own code, at most a moment after its end; null when nobody knows. */
  async exitCode(): Promise<number | null> {
    await settlesWithin(this.ended, settleMs);
    return this.#child.exitCode;
  }
}
