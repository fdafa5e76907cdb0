import type { Duplex } from "node:stream";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import {
  encodeFrame,
  FrameReader,
  ProtocolError,
  type FrameFields,
  type FrameOf,
  type HostFrameName,
  type SupervisorFrame,
} from "../frames/frame.ts";
import { exitCodes, frameLimits } from "../frames/frame-table.ts";
import { readLeft, readNumbers, type LeftProcesses, type SandboxNumbers } from "../frames/tree-records.ts";
import {
  shownText,
  type ChannelEnd,
  type ChannelEndReason,
  type ChannelStream,
  type Loss,
  type StreamLink,
} from "./stream.ts";
import { Connection, Listener, listeningKinds, type Listening } from "./connection.ts";
import { FileOperation, fileFrame, type FileRequest } from "./file-operation.ts";
import {
  helloFault,
  readToldMounts,
  readToldVariables,
  setupFields,
  supervisorFacts,
  type ToldStart,
  type SupervisorFacts,
  type SupervisorTerms,
} from "./hello.ts";
import { fairWindows, type WindowSizes } from "./channel-output.ts";
import { Program, spawnFrame, type ProgramRequest } from "./program.ts";
import { Pings, Question, StreamTable } from "./stream-table.ts";

/** How often the numbers of a sandbox that are pushed come. */
const pushEveryMs = 1_000;
/**
 * What may come between two heartbeats: more than the supervisor pushes until it gives up, as all of that comes at once when this
 * process was stopped meanwhile.
 */
const maxBetweenBeats = 96;

/** The numbers of one sandbox: those that were asked for, and those that are pushed each second from the first call of `push` on. */
class SandboxMeter {
  readonly #ask: (intervalMs: number) => void;
  readonly #question = new Question<SandboxNumbers>(() => this.#send(0));
  #listener: ((numbers: SandboxNumbers) => void) | undefined;
  /** How many answers may still come. */
  #due = 0;

  /** `ask` sends NUMBERS with this interval. */
  constructor(ask: (intervalMs: number) => void) {
    this.#ask = ask;
  }

  ask(): Promise<SandboxNumbers> {
    return this.#question.ask();
  }

  /** Has the numbers pushed: to `listener`, in place of an earlier one, now and then each second. */
  push(listener: (numbers: SandboxNumbers) => void): void {
    const isPushed = this.#listener !== undefined;
    this.#listener = listener;
    if (isPushed) return;
    this.#due += maxBetweenBeats;
    this.#send(pushEveryMs);
  }

  /** A heartbeat: more may come. */
  beat(): void {
    if (this.#listener !== undefined) this.#due = Math.max(this.#due, maxBetweenBeats);
  }

  /** What came, for whoever waits for it. @throws ProtocolError for more than was asked for and is pushed */
  answer(numbers: SandboxNumbers): void {
    if (this.#due === 0) throw new ProtocolError("numbers that nobody asked for");
    this.#due -= 1;
    if (this.#question.isAsked) this.#question.answer(numbers);
    this.#listener?.(numbers);
  }

  /** There will be no more. */
  lose(error: Parameters<Question<never>["settle"]>[0]): void {
    this.#question.settle(error);
  }

  #send(intervalMs: number): void {
    this.#due += 1;
    this.#ask(intervalMs);
  }
}

/** How often the supervisor is asked, and how long it may be silent. */
interface HeartbeatTimes {
  /** Time between two questions, in milliseconds. */
  readonly pingMs: number;
  /** Questions in a row that may stay without any answer. */
  readonly maxUnanswered: number;
}

interface HeartbeatParts {
  readonly times: HeartbeatTimes;
  readonly ping: () => void;
  readonly onSilence: () => void;
}

/**
 * Asks the supervisor again and again, and notices that it does not answer. It counts questions, not time: time in which this
 * process itself was stopped counts once at most, as its timer then fires once.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #timer: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #frozen = 0;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#beat(), this.#parts.times.pingMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The supervisor has answered a question. */
  answered(): void {
    this.#unanswered = 0;
  }

  /** Does not count while the work lasts: the sandbox is being paused by it. */
  async whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    this.#frozen += 1;
    try {
      return await work();
    } finally {
      this.#frozen -= 1;
      this.#unanswered = 0;
    }
  }

  #beat(): void {
    const { times, ping, onSilence } = this.#parts;
    if (this.#frozen === 0 && this.#unanswered >= times.maxUnanswered) {
      const unanswered = this.#unanswered;
      // What came while this process was stopped is read first.
      setImmediate(() => {
        if (this.#unanswered === unanswered && this.#frozen === 0) onSilence();
      });
      return;
    }
    this.#unanswered += 1;
    ping();
  }
}

/** Times and sizes of a channel. */
export interface ChannelTimes extends HeartbeatTimes {
  /** How long the supervisor may take to introduce itself. */
  readonly helloMs: number;
  /** How long this end may be silent before the supervisor ends everything. */
  readonly silenceMs: number;
}

/** A loaded machine was seen to stop for some seconds; an engine that is gone is to be noticed within a minute. */
export const channelTimes: ChannelTimes = { helloMs: 30_000, silenceMs: 60_000, pingMs: 10_000, maxUnanswered: 3 };

/** What this end has sent and nobody has read: more than all input and the frames of all streams take. */
const maxUnreadBytes = 4_194_304;

/** No address: the sandbox's own. */
const loopback = new Uint8Array();

export interface ChannelOptions {
  /** The engine's stream to the supervisor. */
  readonly transport: Duplex;
  /** Number of this start of the sandbox, 16 bits, another one than that of the start before. */
  readonly epoch: number;
  readonly terms: SupervisorTerms;
  /** What became of the sandbox; asked once, when the channel is over, before anything that waits is told. */
  readonly explain: (end: ChannelEnd) => Promise<Loss>;
  /** Default: `channelTimes`. */
  readonly times?: ChannelTimes | undefined;
  /** Default: `fairWindows`. Larger ones for a stream are faster where an engine is far away. */
  readonly windows?: WindowSizes | undefined;
}

/**
 * The host's end of one stream to a supervisor. It believes nothing: what does not fit ends the channel and everything on it.
 * Whatever happens, everything that waits for it settles, and what it holds is bounded.
 */
export class SupervisorChannel {
  /** When everything on it has been told of the end. */
  readonly ended: Promise<ChannelEnd>;
  readonly #options: ChannelOptions;
  readonly #times: ChannelTimes;
  readonly #reader: FrameReader<SupervisorFrame["name"]>;
  readonly #streams: StreamTable;
  readonly #pings = new Pings((nonce) => this.#send("PING", 0, { nonce }));
  readonly #left = new Question<LeftProcesses>(() => this.#send("ASK_LEFT", 0, {}));
  readonly #meter = new SandboxMeter((intervalMs) => this.#send("NUMBERS", 0, { intervalMs }));
  readonly #heartbeat: Heartbeat;
  readonly #ended = Promise.withResolvers<ChannelEnd>();
  readonly #hello = Promise.withResolvers<SupervisorFacts>();
  readonly #start = Promise.withResolvers<ToldStart>();
  #variables: ToldStart["variables"] | undefined;
  #helloTimer: NodeJS.Timeout | undefined;
  #isJudged = false;
  #isStartTold = false;
  #isAskedToEnd = false;
  #isGathering = false;
  #isOver = false;
  #loss: Loss | undefined;

  /** Sends the first frame at once: a sandbox that is not yet started finds it. */
  constructor(options: ChannelOptions) {
    const { transport, epoch, terms, times = channelTimes, windows = fairWindows } = options;
    this.#options = options;
    this.#times = times;
    this.ended = this.#ended.promise;
    for (const { promise } of [this.#hello, this.#start] as const) {
      promise.catch(() => {
        // Perhaps nobody waits for it.
      });
    }
    this.#reader = new FrameReader("supervisor", epoch);
    this.#streams = new StreamTable(windows, (name, stream, fields) => this.#send(name, stream, fields));
    this.#heartbeat = new Heartbeat({
      times,
      ping: () => {
        this.#pings.send();
        this.#meter.beat();
      },
      onSilence: () => this.#over("silent", "it did not answer in time"),
    });
    transport.on("data", (bytes: Buffer) => this.#take(bytes));
    transport.on("error", (error: Error) => this.#cut(error.message));
    transport.on("end", () => this.#cut("the stream ended"));
    transport.on("close", () => this.#cut("the stream was closed"));
    this.#send("SETUP", 0, setupFields(terms, windows, times.silenceMs));
  }

  /** Whether nothing can be asked of it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Waits until the supervisor has introduced itself and was found to be what it must be; only then is anything else to be asked.
   * The time that it may take begins with the first call.
   */
  hello(): Promise<SupervisorFacts> {
    if (!this.#isOver && !this.#isJudged) {
      this.#helloTimer ??= setTimeout(
        () => this.#over("silent", "it did not introduce itself in time"),
        this.#times.helloMs,
      );
    }
    return this.#hello.promise;
  }

  /** How the sandbox was started; only of a supervisor that was asked for it, after its introduction. @throws SANDBOX_LOST */
  started(): Promise<ToldStart> {
    return this.#start.promise;
  }

  /** Starts a program. @throws INVALID_REQUEST, CAPACITY with 256 streams, SANDBOX_LOST */
  async spawn(request: ProgramRequest): Promise<Program> {
    const { fields, strings } = spawnFrame(request);
    return this.#begin("SPAWN", fields, (link) => new Program(link, request, strings));
  }

  /**
   * Connects to a port on the sandbox's loopback, or at an address of 4 or 16 bytes; `dialled` of the result says whether it is open.
   * @throws CAPACITY, SANDBOX_LOST
   */
  dial(port: number, family: 4 | 6, deadlineMs: number, address: Uint8Array = loopback): Promise<Connection> {
    return this.#begin("DIAL", { port, family, deadlineMs, tail: address }, (link) => new Connection(link, false));
  }

  /** Listens on the sandbox's loopback; port 0: any that is free. @throws CAPACITY, SANDBOX_LOST */
  listen(port: number, family: 4 | 6, listening: Listening): Promise<Listener> {
    return this.#begin(
      "LISTEN",
      { port, family, kind: listeningKinds[listening.kind] },
      (link) => new Listener(link, listening),
    );
  }

  /** Begins a file operation. @throws INVALID_REQUEST, CAPACITY, SANDBOX_LOST */
  async file(request: FileRequest): Promise<FileOperation> {
    return this.#begin("FILE", fileFrame(request), (link) => new FileOperation(link));
  }

  /** Everything that lives inside beside the programs themselves. @throws SANDBOX_LOST */
  async left(): Promise<LeftProcesses> {
    await this.#usable();
    return this.#left.ask();
  }

  /** What the sandbox uses now. @throws SANDBOX_LOST */
  async numbers(): Promise<SandboxNumbers> {
    await this.#usable();
    return this.#meter.ask();
  }

  /** Has what the sandbox uses pushed to `listener`, in place of an earlier one, now and then each second while the channel lives. */
  pushNumbers(listener: (numbers: SandboxNumbers) => void): void {
    this.#meter.push(listener);
  }

  /** SIGKILL to the tree that uses most memory now, if there is one; resolves when nothing is left of it. @throws SANDBOX_LOST */
  async endLargest(): Promise<void> {
    const { trees } = await this.numbers();
    const [largest] = trees.toSorted((a, b) => (b.residentBytes ?? 0) - (a.residentBytes ?? 0));
    if (largest !== undefined) await this.#streams.programAt(largest.stream)?.endTree(0);
  }

  /** Resolves when the supervisor answers. @throws SANDBOX_LOST */
  async ping(): Promise<void> {
    await this.#usable();
    return this.#pings.ask();
  }

  /** Work that stops the sandbox for a while: the supervisor may be silent meanwhile. */
  whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    return this.#heartbeat.whileFrozen(work);
  }

  /** Ends everything inside, SIGTERM first if there is a grace, and with it the sandbox; resolves when the channel is over. */
  async endAll(graceMs: number): Promise<void> {
    this.#isAskedToEnd = true;
    if (!this.#isOver) this.#send("END_TREE", 0, { graceMs });
    await this.ended;
  }

  /** Gives the channel up: its end is the end of everything inside. Resolves when everything that waits for it was told. */
  async close(): Promise<void> {
    this.#over("closed", "it was closed");
    await this.ended;
  }

  async #begin<Name extends "SPAWN" | "DIAL" | "LISTEN" | "FILE", Stream extends ChannelStream>(
    name: Name,
    fields: FrameFields<Name>,
    make: (link: StreamLink) => Stream,
  ): Promise<Stream> {
    await this.#usable();
    return this.#streams.begin(name, fields, make);
  }

  /** @throws what became of the sandbox, once the channel is over */
  async #usable(): Promise<void> {
    // After the order to end everything none but its end is an answer.
    if (!this.#isOver && !this.#isAskedToEnd) return;
    await this.ended;
    throw lossError(this.#loss);
  }

  #send<Name extends HostFrameName>(name: Name, stream: number, fields: FrameFields<Name>): void {
    if (this.#isOver) return;
    const { transport, epoch } = this.#options;
    // What is said at once goes out in one piece, and is not answered before this call has returned.
    if (!this.#isGathering) {
      this.#isGathering = true;
      transport.cork();
      queueMicrotask(() => {
        this.#isGathering = false;
        transport.uncork();
      });
    }
    transport.write(encodeFrame(name, { epoch, stream }, fields));
    if (transport.writableLength > maxUnreadBytes) this.#over("stuck", "it does not read what it is sent");
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#reader.read(bytes, (frame) => {
        if (!this.#isOver) this.#receive(frame);
      });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#over("nonsense", error.message);
    }
  }

  #receive(frame: SupervisorFrame): void {
    if (frame.name === "TROUBLE") return this.#troubled(frame.fields);
    if (!this.#isJudged) return this.#judge(frame);
    if (frame.name === "HELLO") {
      throw new ProtocolError("a second HELLO");
    } else if (frame.name === "VARIABLES" || frame.name === "MOUNTS") {
      this.#takeStart(frame);
    } else if (this.#options.terms.tellsStart === true && !this.#isStartTold) {
      throw new ProtocolError(`${frame.name} before how it was started`);
    } else if (frame.name === "PONG") {
      this.#pings.answer(frame.fields.nonce);
      this.#heartbeat.answered();
    } else if (frame.name === "STATS") {
      this.#meter.answer(readNumbers(frame.fields));
    } else if (frame.name === "LEFT" && frame.stream === 0) {
      this.#left.answer(readLeft(frame.fields));
    } else {
      this.#streams.receive(frame);
    }
  }

  #judge(frame: FrameOf<SupervisorFrame["name"]>): void {
    if (frame.name !== "HELLO") throw new ProtocolError(`${frame.name} before HELLO`);
    const { terms } = this.#options;
    const fault = helloFault(frame.fields, terms);
    if (fault !== null) return this.#over("refused", fault);
    this.#isJudged = true;
    clearTimeout(this.#helloTimer);
    this.#heartbeat.start();
    this.#hello.resolve(supervisorFacts(frame.fields, terms));
  }

  /** Variables, then mounts, once each, and only where they were asked for. */
  #takeStart(frame: FrameOf<"VARIABLES" | "MOUNTS">): void {
    const isNext = (frame.name === "VARIABLES") === (this.#variables === undefined);
    if (this.#options.terms.tellsStart !== true || this.#isStartTold || !isNext) {
      throw new ProtocolError(`${frame.name} that nobody asked for`);
    }
    if (frame.name === "VARIABLES") {
      this.#variables = readToldVariables(frame.fields);
      return;
    }
    this.#isStartTold = true;
    this.#start.resolve({ variables: this.#variables ?? null, mounts: readToldMounts(frame.fields) });
  }

  #troubled({ code, tail }: FrameFields<"TROUBLE">): void {
    if (tail.length > frameLimits.maxTroubleBytes) throw new ProtocolError("TROUBLE that is too long");
    const isAsked = this.#isAskedToEnd && code === exitCodes.ASKED;
    this.#over(isAsked ? "asked" : "trouble", shownText(tail), code);
  }

  #cut(detail: string): void {
    const within = this.#reader.isWithinFrame ? " in the middle of a frame" : "";
    this.#over(this.#isAskedToEnd ? "asked" : "cut", `${detail}${within}`);
  }

  #over(reason: ChannelEndReason, detail: string, code: number | null = null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#helloTimer);
    this.#heartbeat.stop();
    this.#options.transport.destroy();
    void this.#tellAll({ reason, detail, code });
  }

  async #tellAll(end: ChannelEnd): Promise<void> {
    const loss = await this.#options
      .explain(end)
      .catch((error: unknown) => ({ error: lostWithout(error), isGone: false }));
    this.#loss = loss;
    const error = lossError(loss);
    this.#hello.reject(error);
    this.#start.reject(error);
    this.#pings.lose(error);
    this.#left.settle({ error });
    this.#meter.lose({ error });
    this.#streams.lose(loss);
    this.#ended.resolve(end);
  }
}

function lostWithout(cause: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The sandbox was lost, and its engine could not be asked why.", { cause });
}

/** The error of what is asked of a sandbox that is over. */
function lossError(loss: Loss | undefined): GloveboxError {
  return loss?.error ?? new GloveboxError("SANDBOX_LOST", "The sandbox has been ended.");
}
