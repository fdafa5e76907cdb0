import { posix } from "node:path";
import { Readable, type Duplex } from "node:stream";
import { settlesWithin, throwIfCancelled, untilCancelled, withinMs, cancelled } from "../../../base/abort.ts";
import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type {
  CallOptions,
  Container,
  ContainerState,
  ExecSpec,
  OpenedPort,
  PlacedFile,
  Process,
  TerminalProcess,
  TerminalSize,
} from "../../engine.ts";
import { SupervisorChannel, type ChannelTimes } from "../channel/channel.ts";
import type { SupervisorTerms } from "../channel/hello.ts";
import type { Program } from "../channel/program.ts";
import { FolderFiles } from "../folder-files.ts";
import type { SandboxNumbers } from "../frames/tree-records.ts";
import {
  beginProgram,
  exitCodeOf,
  failedProcess,
  laterProcess,
  programProcess,
  startFailure,
} from "./program-process.ts";
import { attachedTooLate, notRunning, nothingToAttachTo } from "./container-errors.ts";
import { containerLoss, openFolders, type EngineContainer } from "./engine-container.ts";
import { listenPort, reachAddress } from "./container-network.ts";
import { parseUser, programRequest } from "./program-request.ts";
import { assertPort, connectionLost, nothingListens } from "../../port-errors.ts";
import { errnoName, type LinuxErrno } from "../frames/linux-errno.ts";
import { canonicalName } from "../../../policy/network/domain-names.ts";

/** Names that are told of one hearing: a program may ask for as many as it likes. */
const maxNames = 20;

/** As `Container.hearNames`. Nothing waits for it, and where there is no resolver nothing is told. */
function hearNames(channel: SupervisorChannel, onName: (name: string) => void): Disposable {
  const told = new Set<string>();
  let isOver = false;
  const onQuestion = (bytes: Uint8Array): void => {
    if (isOver || told.size >= maxNames) return;
    const name = questionName(bytes);
    if (name === null || told.has(name)) return;
    told.add(name);
    onName(name);
  };
  const listening = channel.listen(0, 4, { kind: "questions", onQuestion });
  listening.catch(() => {
    // There is no place for one more stream, or the sandbox is lost: its program says that by itself.
  });
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      listening.then(
        (listener) => listener.close(),
        () => undefined,
      );
    },
  };
}

const headerBytes = 12;
/** Where the header says how many questions there are. */
const countAt = 4;
const longestLabel = 63;
/** As a name with its lengths may be at most. */
const longestName = 255;
/** The tree of names that stand for addresses: nobody asks for a host by one. */
const reversed = /\.arpa$/i;

/**
 * The name in a question to a resolver, as the program spelled it; null for whatever is no question for one strict name of a host.
 * The program made all of the bytes: a name is never longer than names may be, and pointers are not followed.
 */
export function questionName(bytes: Uint8Array): string | null {
  const question = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (question.length < headerBytes || question.readUInt16BE(countAt) !== 1) return null;
  const labels: string[] = [];
  for (let at = headerBytes; at < headerBytes + longestName;) {
    const length = question[at];
    if (length === undefined || length > longestLabel) return null;
    if (length === 0) return nameOf(labels);
    if (at + 1 + length > question.length) return null;
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return null;
}

function nameOf(labels: readonly string[]): string | null {
  const name = labels.join(".");
  return labels.some((label) => label.includes(".")) || canonicalName(name) === null || reversed.test(name)
    ? null
    : name;
}

/** How long a connection on loopback may take. */
const dialMs = 30_000;

/** With these nobody is at that address, and perhaps somebody at the other. */
const nobodyThere: ReadonlySet<LinuxErrno | null> = new Set<LinuxErrno>([
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "ENETUNREACH",
]);

/** As `Container.connect`; a server on `localhost` may be at either address. */
async function connectPort(channel: SupervisorChannel, port: number, signal: AbortSignal | undefined): Promise<Duplex> {
  assertPort(port);
  for (const family of [4, 6] as const) {
    throwIfCancelled(signal);
    const connection = await channel.dial(port, family, dialMs);
    const giveUp = (): void => void connection.destroy();
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted === true) giveUp();
    const dialled = await connection.dialled;
    signal?.removeEventListener("abort", giveUp);
    if (signal?.aborted === true) {
      connection.destroy();
      throw cancelled(signal.reason);
    }
    if (dialled.isOpen) return connection;
    // A sandbox that is lost says by itself how.
    if (dialled.end === null) await channel.ping();
    if (!nobodyThere.has(errnoName(dialled.end?.errno ?? 0))) throw connectionLost(port);
  }
  throw nothingListens(port);
}

/** How long a supervisor may take to end everything, beside the grace that it gives. */
const endMs = 5_000;
/** How long one that can start programs may take to answer. */
const answerMs = 5_000;
/** How long an end may be put off for the last numbers, which come in some milliseconds unless the machine is busy. */
const lastNumbersMs = 200;
/** SIGTERM, as Linux numbers it. */
const terminate = 15;
/** Death by SIGKILL, which ends everything in a container. */
const killedExitCode = 137;
const maxEpoch = 65_535;
/** A later one of the same name replaces it, which takes the right to write. */
const placedMode = 0o644;

export interface SupervisedContainerParts {
  readonly spec: ContainerSpec;
  readonly place: EngineContainer;
  readonly terms: SupervisorTerms;
  /** Default: `channelTimes`. */
  readonly times?: ChannelTimes | undefined;
  /** A number that differs from that of another server's start of the same container, 16 bits. */
  readonly firstEpoch: number;
}

/** A container whose programs a supervisor starts, watches and ends: the same for every engine that gives a stream to one. */
export class SupervisedContainer implements Container {
  readonly #parts: SupervisedContainerParts;
  #epoch: number;
  #channel: SupervisorChannel | undefined;
  #isEndedByUs = false;
  #mountsVerified = false;
  #exitCode: number | null = null;
  /** Whether the kernel had ended something for memory when the main process ended; null when that is not known. */
  #mainOomKilled: boolean | null = null;
  /** The main process, once somebody waits for it: settled by the start. */
  #attached: PromiseWithResolvers<Process> | undefined;
  #main: Program | undefined;
  readonly #started = Promise.withResolvers<SupervisorChannel>();
  /** Whether the supervisor sees what its sandbox uses. */
  #seesUsage = false;
  /** What it used when we ended it, null: it could not tell any more; undefined while it runs. */
  #lastNumbers: Promise<SandboxNumbers | null> | undefined;
  #statsListener: ((stats: ContainerStats) => void) | undefined;

  constructor(parts: SupervisedContainerParts) {
    this.#parts = parts;
    this.#epoch = parts.firstEpoch;
    this.#started.promise.catch(() => {
      // Who waits for it is told.
    });
  }

  get id(): string {
    return this.#parts.place.id;
  }

  get mountsVerified(): boolean {
    return this.#mountsVerified;
  }

  folderOf(path: string): string {
    return this.#parts.place.folderOf?.(path) ?? path;
  }

  async attach({ signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    if (this.#parts.spec.command === undefined) throw nothingToAttachTo();
    if (this.#attached !== undefined || this.#channel !== undefined) throw attachedTooLate();
    this.#attached = Promise.withResolvers<Process>();
    this.#attached.promise.catch(() => {
      // Its process tells it.
    });
    return laterProcess(this.#attached.promise);
  }

  /** @throws UNSUPPORTED when the supervisor is not what it must be; nothing was run then */
  async start({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    if (this.#channel?.isOver === false) return;
    this.#isEndedByUs = false;
    this.#lastNumbers = undefined;
    try {
      const { mountsVerified } = await this.#parts.place.start((stream) => this.#open(stream), { signal });
      this.#mountsVerified = mountsVerified;
      const channel = this.#channel;
      if (channel === undefined) throw this.#lost();
      const { cgroup } = await untilCancelled(channel.hello(), signal);
      await this.#learnStart(channel, signal);
      await untilCancelled(this.#proveNetwork(channel, signal), signal);
      this.#seesUsage = cgroup > 0;
      this.#pushStats(channel);
      await untilCancelled(openFolders(channel, this.#parts.place), signal);
      this.#started.resolve(channel);
      if (this.#parts.spec.command !== undefined) await this.#startMain(channel, this.#parts.spec.command);
    } catch (error) {
      this.#attached?.reject(error);
      this.#isEndedByUs = true;
      await this.#channel?.close();
      throw error;
    }
  }

  /** A program that cannot be started is a process that has ended with 126 or 127. Given up, it leaves nothing behind. */
  async exec(spec: ExecSpec, options: CallOptions = {}): Promise<Process> {
    return this.#begin(spec, undefined, options);
  }

  async execInTerminal(spec: ExecSpec, size: TerminalSize, options: CallOptions = {}): Promise<TerminalProcess> {
    return this.#begin(spec, size, options);
  }

  async connect(port: number, { signal }: CallOptions = {}): Promise<Duplex> {
    return connectPort(this.#live(), port, signal);
  }

  listen(port: number, onConnection: (connection: Duplex) => void, options: CallOptions = {}): Promise<OpenedPort> {
    return listenPort(this.#live(), port, onConnection, options.signal);
  }

  hearNames(onName: (name: string) => void): Disposable {
    return hearNames(this.#live(), onName);
  }

  async placeFile({ path, content, user }: PlacedFile, { signal }: CallOptions = {}): Promise<void> {
    const { dir, base } = posix.parse(path);
    await this.files(dir, user).write(base, Readable.from([content]), { mode: placedMode, signal });
  }

  /** Files beneath an absolute folder of the sandbox, as `user` (`uid:gid`; default: that of its programs) has them. */
  files(folder: string, user: string = this.#user): FolderFiles {
    return new FolderFiles(() => this.#live(), { folder, ...parseUser(user) });
  }

  async inspect(options: CallOptions = {}): Promise<ContainerState> {
    const channel = this.#channel;
    if (channel === undefined) return this.#parts.place.inspect(options);
    if (!channel.isOver) return { running: true, exitCode: null, oomKilled: await this.#hasKilledForMemory(options) };
    await untilCancelled(channel.ended, options.signal);
    const { oomKilled, exitCode } = await this.#parts.place.inspect(options);
    const ownCode = this.#isEndedByUs ? killedExitCode : (exitCode ?? killedExitCode);
    return { running: false, exitCode: this.#exitCode ?? ownCode, oomKilled: this.#mainOomKilled ?? oomKilled };
  }

  async isAlive({ signal }: CallOptions = {}): Promise<boolean> {
    const channel = this.#channel;
    if (channel === undefined || channel.isOver) return false;
    return untilCancelled(
      withinMs(
        answerMs,
        () => this.#lost(),
        () => channel.ping(),
      ).then(
        () => true,
        () => false,
      ),
      signal,
    );
  }

  /** SIGKILL to the program that uses most memory now and to all that it started; resolves when nothing of it is left. */
  async endLargest(): Promise<void> {
    await this.#live().endLargest();
  }

  /**
   * What the supervisor sees in some milliseconds, or saw when we had it end; what it cannot see the engine is asked for.
   */
  async stats(options: CallOptions = {}): Promise<ContainerStats> {
    const numbers = await untilCancelled(this.#numbers(), options.signal);
    if (numbers === null) return this.#parts.place.stats(options);
    if (numbers.memoryBytes !== null) return statsOf(numbers);
    // The folders are known inside alone.
    return { ...(await this.#parts.place.stats(options)), scratchBytes: numbers.scratchBytes };
  }

  watchStats(listener: (stats: ContainerStats) => void): boolean {
    this.#statsListener = listener;
    if (this.#channel !== undefined) this.#pushStats(this.#channel);
    return this.#seesUsage;
  }

  async writtenBytes(options: CallOptions = {}): Promise<number | null> {
    return this.#parts.spec.writableRoot === undefined ? null : this.#parts.place.writtenBytes(options);
  }

  async writtenFolder(options: CallOptions = {}): Promise<string | null> {
    return this.#parts.spec.writableRoot === undefined ? null : this.#parts.place.writtenFolder(options);
  }

  async wait(options: CallOptions = {}): Promise<ContainerState> {
    const channel = await untilCancelled(this.#started.promise, options.signal);
    await untilCancelled(channel.ended, options.signal);
    return this.inspect(options);
  }

  async stop(graceMs: number, { signal }: CallOptions = {}): Promise<void> {
    const main = this.#main;
    if (main === undefined) return untilCancelled(this.#endAll(graceMs), signal);
    this.#isEndedByUs = true;
    main.signal(terminate, "program");
    await untilCancelled(settlesWithin(main.exit, graceMs), signal);
    await this.kill({ signal });
  }

  async kill({ signal }: CallOptions = {}): Promise<void> {
    await untilCancelled(this.#endAll(0), signal);
  }

  commit(labels: Readonly<Record<string, string>>, options: CallOptions = {}): Promise<string> {
    const commit = (): Promise<string> => this.#parts.place.commit(labels, options);
    return this.#channel === undefined ? commit() : this.#channel.whileFrozen(commit);
  }

  async remove(options: CallOptions = {}): Promise<void> {
    this.#isEndedByUs = true;
    const closed = this.#channel?.close();
    await this.#parts.place.remove(options);
    this.#attached?.reject(this.#lost());
    this.#started.reject(this.#lost());
    await closed;
  }

  get #user(): string {
    return this.#parts.spec.processUser ?? programUser;
  }

  #open(transport: Duplex): void {
    const { place, terms, times } = this.#parts;
    const epoch = this.#epoch;
    // Nothing late of this start is taken for something of the next one.
    this.#epoch = epoch >= maxEpoch ? 1 : epoch + 1;
    this.#channel = new SupervisorChannel({
      ...{ transport, epoch, terms, times },
      explain: (end) => containerLoss(place, end, this.#isEndedByUs),
    });
  }

  async #learnStart(channel: SupervisorChannel, signal: AbortSignal | undefined): Promise<void> {
    const { place, terms } = this.#parts;
    if (terms.tellsStart === true) place.learnStart?.(await untilCancelled(channel.started(), signal));
  }

  async #proveNetwork(channel: SupervisorChannel, signal: AbortSignal | undefined): Promise<void> {
    await this.#parts.place.prove?.((target) => reachAddress(channel, target), { signal });
  }

  /** @throws SANDBOX_LOST */
  #live(): SupervisorChannel {
    if (this.#channel === undefined) throw this.#lost();
    return this.#channel;
  }

  async #begin(spec: ExecSpec, terminal: TerminalSize | undefined, { signal }: CallOptions): Promise<TerminalProcess> {
    throwIfCancelled(signal);
    const { spec: container, place } = this.#parts;
    if (place.admit !== undefined) await untilCancelled(place.admit(spec, { signal }), signal);
    const request = { ...programRequest(spec, container, place.environment), terminal };
    return beginProgram(this.#live(), request, signal);
  }

  async #startMain(channel: SupervisorChannel, command: readonly string[]): Promise<void> {
    const { spec, place } = this.#parts;
    const request = programRequest({ command }, spec, place.environment);
    const program = await channel.spawn(request);
    this.#main = program;
    const start = await program.started;
    const process = start.isStarted
      ? programProcess(program)
      : failedProcess(startFailure(start.end, command[0] ?? "", request.folder));
    this.#attached?.resolve(process);
    void this.#endWithMain(program, process);
  }

  /** The main process's end is the container's, once its output has come. */
  async #endWithMain(program: Program, process: Process): Promise<void> {
    try {
      this.#exitCode = program.hasExited ? exitCodeOf(await program.exit) : (await process.exit).exitCode;
    } catch {
      this.#exitCode = (await process.exit.catch(() => null))?.exitCode ?? null;
    }
    await program.output.whenEnded;
    const kills = (await this.#numbers())?.memoryKills ?? null;
    this.#mainOomKilled = kills === null ? null : kills > 0;
    await this.#endAll(0);
  }

  async #endAll(graceMs: number): Promise<void> {
    const channel = this.#channel;
    if (channel === undefined) return this.#parts.place.kill();
    if (!channel.isOver) {
      this.#isEndedByUs = true;
      // Afterwards only the engine could be asked, which would look for a reason for seconds.
      this.#lastNumbers = this.#numbers();
      await settlesWithin(this.#lastNumbers, lastNumbersMs);
    }
    if (await settlesWithin(channel.endAll(graceMs), graceMs + endMs)) return;
    await this.#parts.place.kill();
    await channel.close();
  }

  /** Has the supervisor of this start tell whoever listens. */
  #pushStats(channel: SupervisorChannel): void {
    const listener = this.#statsListener;
    if (listener !== undefined && this.#seesUsage) channel.pushNumbers((numbers) => listener(statsOf(numbers)));
  }

  async #numbers(): Promise<SandboxNumbers | null> {
    if (this.#lastNumbers !== undefined) return this.#lastNumbers;
    const channel = this.#channel;
    if (channel === undefined || channel.isOver) return null;
    return withinMs(
      answerMs,
      () => this.#lost(),
      () => channel.numbers(),
    ).catch(() => null);
  }

  async #hasKilledForMemory(options: CallOptions): Promise<boolean | null> {
    const { oomKills } = await this.stats(options);
    return oomKills === null ? null : oomKills > 0;
  }

  #lost(): GloveboxError {
    return notRunning(this.#parts.place.engine.title);
  }
}

function statsOf(numbers: SandboxNumbers): ContainerStats {
  return {
    memoryBytes: numbers.memoryBytes,
    memoryCacheBytes: numbers.memoryCacheBytes,
    scratchBytes: numbers.scratchBytes,
    memoryPeakBytes: numbers.memoryPeakBytes,
    oomKills: numbers.memoryKills,
    cpuTimeMs: numbers.cpuTimeMs,
    diskReadBytes: numbers.diskReadBytes,
    diskWriteBytes: numbers.diskWriteBytes,
  };
}
