import { GloveboxError } from "../../errors/glovebox-error.ts";
import { refusal, failureKind, engineName, engineTitle, noCommit } from "./apple-errors.ts";
import { afterExitMs, closeStreams, endCommand, readAnswer, type ContainerCommand } from "./container-command.ts";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled, settlesWithin } from "../../base/abort.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { unknownStats, type ContainerStats } from "../container-stats.ts";
import type { CallOptions, ContainerState } from "../engine.ts";
import type { ContainerStart, EngineContainer } from "../supervised/container/engine-container.ts";
import { parseContainers, countAt, parseObjects, textAt } from "./command-format.ts";
import { namesOf, sizedVolumes, removeVolumes } from "./apple-volumes.ts";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { RingOutput } from "../../base/streams/collected-bytes.ts";

/**
 * Ends and removes a container; resolves when it is gone, whoever removed it. A removal that hangs is tried once more
 * after a kill; then the service itself hangs.
 */
export async function removeContainer(command: ContainerCommand, id: string, signal?: AbortSignal): Promise<void> {
  try {
    await remove(command, id, signal);
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    await killContainer(command, id, signal).catch(() => undefined);
    await remove(command, id, signal);
  }
}

/** A container's numbers in an answer of `stats`, which leaves out containers that do not run. @throws AnswerError */
export function parseStats(text: string, id: string): ContainerStats {
  const own = parseObjects(text).find((answer) => textAt(answer, "id") === id);
  if (own === undefined) return unknownStats;
  const microseconds = countAt(own, "cpuUsageUsec");
  return {
    ...unknownStats,
    memoryBytes: countAt(own, "memoryUsageBytes"),
    cpuTimeMs: microseconds === null ? null : microseconds / 1000,
    diskReadBytes: countAt(own, "blockReadBytes"),
    diskWriteBytes: countAt(own, "blockWriteBytes"),
  };
}

/** How long a command whose streams have been closed may stay. */
const letGoMs = 2_000;

/**
 * The supervisor's standard input and output over the command that is attached to its container. What comes on standard error is the
 * command's own, or for people.
 */
class CommandStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.#child = child;
    const { stdin, stdout } = child;
    stdout.on("data", (bytes: Buffer) => {
      if (!this.push(bytes)) stdout.pause();
    });
    stdout.on("end", () => this.push(null));
    for (const stream of [stdin, stdout]) {
      stream.on("error", (error: Error) => this.destroy(error));
    }
    stdout.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#child.stdin.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#close();
    done(error);
  }

  /** The end of its input ends the supervisor, and with it the container, and with that the command. */
  #close(): void {
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    setTimeout(() => endCommand(this.#child), letGoMs).unref();
  }
}

/** Of what the command says for people, the end. */
const maxWordsBytes = 8_192;
/** How long the command may stay after its container's end. */
const settleMs = 5_000;

/** The `container start` that carries a supervisor's streams and tells how it ended. */
class AttachedStart {
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

interface ApplePlaceParts {
  readonly spec: ContainerSpec;
  readonly command: ContainerCommand;
  readonly environment: Readonly<Record<string, string>>;
  /** Waits for the caller's turn to have the service start something. */
  readonly takeTurn: (signal: AbortSignal | undefined) => Promise<() => void>;
}

/** How often a container that is about to end is looked at. */
const lookMs = 250;

/** A container in a virtual machine of its own, which lives as long as the `container start` that we hold. */
export class ApplePlace implements EngineContainer {
  readonly engine = { name: engineName, title: engineTitle };
  readonly id: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly openFolders: readonly string[];
  /** They belong to root. */
  readonly newFileSystems: readonly string[];
  readonly #parts: ApplePlaceParts;
  #start: AttachedStart | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: ApplePlaceParts) {
    const { spec, environment } = parts;
    this.id = spec.name;
    this.environment = environment;
    this.newFileSystems = sizedVolumes(spec).map(({ path }) => path);
    this.openFolders = [...this.newFileSystems, ...(spec.writableRoot?.folders ?? [])];
    this.#parts = parts;
  }

  /** If a start is given up, the container is removed. */
  async start(open: (stream: Duplex) => void, { signal }: CallOptions): Promise<ContainerStart> {
    const endTurn = await this.#parts.takeTurn(signal);
    try {
      throwIfCancelled(signal);
      const start = await AttachedStart.open(this.#parts.command, this.id);
      this.#start = start;
      open(start.stream);
      await untilCancelled(start.begun, signal);
    } catch (error) {
      if (signal?.aborted === true) await this.remove({});
      throw error;
    } finally {
      endTurn();
    }
    return { mountsVerified: false };
  }

  kill(): Promise<void> {
    return killContainer(this.#parts.command, this.id);
  }

  async wait({ signal }: CallOptions): Promise<void> {
    await untilCancelled(this.#start?.ended ?? Promise.resolve(), signal);
    // The command may have ended without its container.
    for (;;) {
      await this.#removal?.catch(() => undefined);
      const state = await this.#state(signal);
      if (state !== "running" && state !== "stopping") return;
      await sleep(lookMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** The service tells no exit code, and nothing about memory: the command that we hold tells the code. */
  async inspect({ signal }: CallOptions): Promise<ContainerState> {
    const exitCode = this.#start === undefined ? null : await untilCancelled(this.#start.exitCode(), signal);
    return { running: false, exitCode, oomKilled: null };
  }

  /** Takes two seconds, and counts no kills. */
  stats({ signal }: CallOptions): Promise<ContainerStats> {
    const action = "tell a container's use";
    const words = ["stats", "--no-stream", "--format=json", "--", this.id];
    return readAnswer(this.#parts.command, { action, words, deadline: "query", signal }, (text) =>
      parseStats(text, this.id),
    );
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  commit(): Promise<string> {
    return Promise.reject(noCommit());
  }

  async remove({ signal }: CallOptions): Promise<void> {
    this.#removal = this.#remove(signal);
    await this.#removal;
  }

  async #remove(signal: AbortSignal | undefined): Promise<void> {
    const { command, spec } = this.#parts;
    await removeContainer(command, this.id, signal);
    await removeVolumes(command, namesOf(sizedVolumes(spec)), signal);
  }

  /** As the service reports it; null for a container that it does not have. */
  async #state(signal: AbortSignal | undefined): Promise<string | null> {
    const action = "look for a container";
    const words = ["list", "--all", "--format=json"];
    const call = { action, words, deadline: "query", signal } as const;
    return readAnswer(
      this.#parts.command,
      call,
      (text) => parseContainers(text).find(({ id }) => id === this.id)?.state ?? null,
    );
  }
}

async function remove(command: ContainerCommand, id: string, signal: AbortSignal | undefined): Promise<void> {
  const action = "remove a container";
  const words = ["delete", "--force", "--", id];
  const result = await command.run({ action, words, deadline: "remove", signal });
  if (result.exitCode === 0 || failureKind(result.stderr) === "no-container") return;
  throw refusal(action, result);
}

/** SIGKILL to the first process, and so to everything; nothing happens when the container does not run. */
async function killContainer(command: ContainerCommand, id: string, signal?: AbortSignal): Promise<void> {
  const action = "end a container";
  const result = await command.run({ action, words: ["kill", "--signal=KILL", "--", id], deadline: "signal", signal });
  if (result.exitCode === 0) return;
  const kind = failureKind(result.stderr);
  if (kind !== "no-container" && kind !== "not-running") throw refusal(action, result);
}
