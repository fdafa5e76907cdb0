import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { ProtocolError, type FrameFields, type FrameOf, type HostFrameName } from "../frames/frame.ts";
import { frameLimits } from "../frames/frame-table.ts";
import { readLeft, type LeftProcesses } from "../frames/tree-records.ts";
import { Connection, Listener } from "./connection.ts";
import { InputLanes, type ChannelStream, type Loss, type StreamFrame, type StreamLink } from "./stream.ts";
import { OutputWindows, type WindowSizes } from "./channel-output.ts";
import { Program } from "./program.ts";

/** One kind of question, asked one at a time: the supervisor answers what waits together. */
export class Question<T> {
  readonly #ask: () => void;
  /** Who waits for the answer that is on its way. */
  #asked: PromiseWithResolvers<T>[] = [];
  /** Who asked after it was: they are told what is found later. */
  #next: PromiseWithResolvers<T>[] = [];

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** Whether somebody waits for an answer. */
  get isAsked(): boolean {
    return this.#asked.length > 0;
  }

  ask(): Promise<T> {
    const waiting = Promise.withResolvers<T>();
    waiting.promise.catch(() => {
      // Perhaps its caller has gone.
    });
    if (this.#asked.length > 0) {
      this.#next.push(waiting);
    } else {
      this.#asked.push(waiting);
      this.#ask();
    }
    return waiting.promise;
  }

  /** @throws ProtocolError for an answer that nobody asked for */
  answer(value: T): void {
    if (this.#asked.length === 0) throw new ProtocolError("an answer that nobody asked for");
    for (const { resolve } of this.#asked) resolve(value);
    this.#asked = this.#next;
    this.#next = [];
    if (this.#asked.length > 0) this.#ask();
  }

  /** There will be no more answers. */
  settle(end: { readonly value: T } | { readonly error: GloveboxError }): void {
    const all = [...this.#asked, ...this.#next];
    this.#asked = [];
    this.#next = [];
    for (const { resolve, reject } of all) {
      if ("value" in end) resolve(end.value);
      else reject(end.error);
    }
  }
}

/** Pings that were not answered. */
export class Pings {
  readonly #ask: (nonce: bigint) => void;
  /** Their numbers, the oldest first, and who waits for the answer. */
  readonly #unanswered = new Map<bigint, (() => void) | null>();
  readonly #rejects = new Set<(error: GloveboxError) => void>();
  #last = 0n;

  constructor(ask: (nonce: bigint) => void) {
    this.#ask = ask;
  }

  /** A ping whose answer nobody waits for. */
  send(): void {
    this.#last += 1n;
    this.#unanswered.set(this.#last, null);
    this.#ask(this.#last);
  }

  /** A ping; resolves with its answer. */
  ask(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {
      // Perhaps its caller has gone.
    });
    this.#last += 1n;
    this.#rejects.add(reject);
    this.#unanswered.set(this.#last, () => {
      this.#rejects.delete(reject);
      resolve();
    });
    this.#ask(this.#last);
    return promise;
  }

  /** An answer holds for all that was asked before. @throws ProtocolError for one without a question */
  answer(nonce: bigint): void {
    if (!this.#unanswered.has(nonce)) throw new ProtocolError("PONG that answers no PING");
    for (const [number, resolve] of this.#unanswered) {
      if (number > nonce) break;
      this.#unanswered.delete(number);
      resolve?.();
    }
  }

  lose(error: GloveboxError): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
    this.#unanswered.clear();
  }
}

const { firstOwnStream, maxStreams } = frameLimits;

/** Bytes of a datagram's port, which count. */
const datagramPortBytes = 2;

interface LiveStream {
  readonly stream: ChannelStream;
  readonly left: Question<LeftProcesses>;
}

const noneLeft: LeftProcesses = { count: 0, processes: [] };

type SendFrame = <Name extends HostFrameName>(name: Name, stream: number, fields: FrameFields<Name>) => void;

/** The live streams of a channel, their numbers and their credit. */
export class StreamTable {
  readonly #send: SendFrame;
  readonly #streams = new Map<number, LiveStream>();
  readonly #windows: OutputWindows;
  readonly #input = new InputLanes();
  #last = 0;
  #nextOwn: number = firstOwnStream;

  constructor(sizes: WindowSizes, send: SendFrame) {
    this.#send = send;
    this.#windows = new OutputWindows(sizes, (stream, bytes) => send("CREDIT", stream, { bytes }));
  }

  /** Begins a stream of ours by its frame. @throws CAPACITY, SANDBOX_LOST when the numbers are used up */
  begin<Name extends "SPAWN" | "DIAL" | "LISTEN" | "FILE", Stream extends ChannelStream>(
    name: Name,
    fields: FrameFields<Name>,
    make: (link: StreamLink) => Stream,
  ): Stream {
    if (this.#streams.size >= maxStreams) throw tooMany();
    this.#last += 1;
    if (this.#last >= firstOwnStream) throw new GloveboxError("SANDBOX_LOST", "The sandbox has been used too often.");
    this.#send(name, this.#last, fields);
    return this.#add(this.#last, make);
  }

  /** @throws ProtocolError */
  receive(frame: StreamFrame | FrameOf<"CREDIT" | "LEFT">): void {
    if (frame.name === "ACCEPTED") return this.#accept(frame);
    const live = this.#streams.get(frame.stream);
    if (live === undefined) throw new ProtocolError(`${frame.name} for stream ${frame.stream}, which is not live`);
    if (frame.name === "LEFT") return live.left.answer(readLeft(frame.fields));
    if (frame.name === "CREDIT") return this.#input.credit(frame.stream, frame.fields.bytes);
    if (frame.name === "OUTPUT" || frame.name === "ERROR_OUTPUT") {
      this.#windows.receive(frame.stream, frame.fields.tail.length);
    } else if (frame.name === "DATAGRAM") {
      this.#windows.receive(frame.stream, frame.fields.tail.length + datagramPortBytes);
    }
    live.stream.receive(frame);
    if (frame.name === "ENDED") this.#remove(frame.stream, live);
  }

  /** The program of a live stream; undefined when it has ended, or is none. */
  programAt(number: number): Program | undefined {
    const stream = this.#streams.get(number)?.stream;
    return stream instanceof Program ? stream : undefined;
  }

  lose(loss: Loss): void {
    const streams = [...this.#streams];
    for (const [number, live] of streams) this.#remove(number, live);
    for (const [, { stream }] of streams) stream.lose(loss);
  }

  #add<Stream extends ChannelStream>(number: number, make: (link: StreamLink) => Stream): Stream {
    this.#windows.open(number);
    const input = this.#input.open(number, (bytes) => this.#send("INPUT", number, { tail: bytes }));
    const left = new Question<LeftProcesses>(() => this.#send("ASK_LEFT", number, {}));
    const stream = make({
      number,
      input,
      send: (name, fields) => {
        if (this.#streams.has(number)) this.#send(name, number, fields);
      },
      consumed: (bytes) => this.#windows.consume(number, bytes),
      askLeft: () => left.ask(),
    });
    this.#streams.set(number, { stream, left });
    return stream;
  }

  #accept(frame: FrameOf<"ACCEPTED">): void {
    const { listener: on, port } = frame.fields;
    const listener = this.#streams.get(on)?.stream;
    if (frame.stream !== this.#nextOwn) throw new ProtocolError("ACCEPTED whose number is not the next");
    if (!(listener instanceof Listener)) throw new ProtocolError("ACCEPTED on what is no listener");
    if (this.#streams.size >= maxStreams) throw new ProtocolError("more streams than there may be");
    this.#nextOwn += 1;
    const connection = this.#add(frame.stream, (link) => new Connection(link, true));
    listener.accept(connection, port, frame);
  }

  #remove(number: number, { left }: LiveStream): void {
    this.#streams.delete(number);
    this.#windows.close(number);
    this.#input.close(number);
    left.settle({ value: noneLeft });
  }
}

function tooMany(): GloveboxError {
  return new GloveboxError(
    "CAPACITY",
    `The sandbox already has the maximum of ${maxStreams} programs, connections and file operations at once.`,
    { suggestion: "End some of them, or wait until they have ended; then retry." },
  );
}
