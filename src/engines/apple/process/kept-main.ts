import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { settlesWithin } from "../../../base/abort.ts";
import { RingOutput } from "../../../base/streams/ring-output.ts";
import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { KeeperStream } from "../../inside/keeper.ts";
import { lostError } from "../../inside/lost-error.ts";
import type { StartedProgram } from "../../inside/running-container.ts";
import { engineTitle, refusal } from "../command/command-errors.ts";
import { failureKind, failureWords, type CommandResult } from "../command/command-failure.ts";
import { endCommand, type ContainerCommand } from "../command/container-command.ts";
import { noShell } from "../container-errors.ts";
import { followCommand } from "./follow-command.ts";
import { judgeEnd, killedExitCode, type EndOf } from "./judge-end.ts";

export interface KeptMainOptions extends Omit<EndOf, "command"> {
  readonly id: string;
  readonly command: ContainerCommand;
  /** The container's own command; undefined: the keeper is its main process. */
  readonly program: readonly string[] | undefined;
}

/** How long the command may stay after its container's end. */
const settleMs = 5_000;
/** How long a command whose input has ended may stay. */
const letGoMs = 2_000;

/** The main process of a container, by the `container start` that carries its streams and tells its exit code. */
export class KeptMain {
  readonly program: StartedProgram;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #errors = new RingOutput(8_192);
  #hasEnded = false;

  private constructor(child: ChildProcessWithoutNullStreams, options: KeptMainOptions) {
    this.#child = child;
    child.stderr.on("data", (bytes: Buffer) => this.#errors.append(bytes));
    const of = { command: options.program ?? ["sh"], isEndedByUs: options.isEndedByUs, isAlive: options.isAlive };
    this.program = followCommand(child, {
      judge: async (end) => {
        if (this.#isStartFailure() && !options.isEndedByUs()) throw refusal("start a container", this.#result());
        return judgeEnd(end, of);
      },
    });
    this.program.exit.then(
      () => (this.#hasEnded = true),
      () => (this.#hasEnded = true),
    );
  }

  /** @throws ENGINE_UNAVAILABLE */
  static async start(options: KeptMainOptions): Promise<KeptMain> {
    const words = ["start", "--attach", "--interactive", "--", options.id];
    return new KeptMain(await options.command.open(words), options);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when it has ended, in whatever way. @throws what prevented its start */
  async assertStarted(): Promise<void> {
    if (this.#isStartFailure()) await this.program.exit;
  }

  keeperStream(): KeeperStream {
    const { stdin, output } = this.program;
    // The end of its input ends the keeper, and with it the container.
    const close = (): void => {
      stdin.end();
      setTimeout(() => endCommand(this.#child), letGoMs).unref();
    };
    return { stdin, output, close };
  }

  /** Nobody reads its output. */
  drain(): void {
    void this.program.output[Symbol.asyncIterator]().return?.();
  }

  /** Code of the end that the service has told of already; that of a kill when nobody knows. */
  async exitCode(): Promise<number> {
    await this.settled();
    if (!this.#hasEnded) return killedExitCode;
    return this.program.exit.then(
      ({ exitCode }) => exitCode,
      () => killedExitCode,
    );
  }

  /** Resolves with its end, or when there will be none. */
  async settled(): Promise<void> {
    await settlesWithin(this.program.exit, settleMs);
  }

  /** Why a container did not come up. */
  async startFailure(image: string): Promise<GloveboxError> {
    await this.settled();
    const words = failureWords(this.#errors.text());
    if (words === null) return lostError(engineTitle);
    if (failureKind(words) === "no-program") return noShell(image);
    return refusal("start a container", this.#result());
  }

  /** Whether the command speaks of the container and not of its program. */
  #isStartFailure(): boolean {
    const words = failureWords(this.#errors.text());
    return words !== null && failureKind(words) === "unknown" && /^failed to (?:bootstrap|start) container/.test(words);
  }

  #result(): CommandResult {
    return { exitCode: this.#child.exitCode, stdout: "", stderr: this.#errors.text() };
  }
}
