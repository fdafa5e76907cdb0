import type { WebSocket } from "ws";
import { settlesWithin } from "../base/abort.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import {
  clientMessageSchema,
  firstLiveCredit,
  liveStreams,
  maxLiveBytes,
  liveCreditPortion,
  type ClientMessage,
  type LiveEvent,
} from "../operations/contract/wire-messages.ts";
import type { OperationCall } from "../operations/contract/operation-contract.ts";
import type { OperationEvent, SignalToSend } from "../operations/contract/wire-values.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { WireEncoder } from "./wire-encoder.ts";
import { GrowingBuffer } from "../base/streams/collected-bytes.ts";

/** Buffers values for a reader that may be slower: if more than `max` are waiting, only the newest are kept. */
class NewestValues<T> implements AsyncIterable<T> {
  readonly #max: number;
  #waiting: T[] = [];
  #isOver = false;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(max: number) {
    this.#max = max;
  }

  push(value: T): void {
    this.#waiting = [...this.#waiting, value].slice(-this.#max);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const [value, ...rest] = this.#waiting;
      this.#waiting = rest;
      if (value !== undefined) yield value;
      else if (this.#isOver) return;
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }
}

/** Input from a client to a program that takes it at its own pace: never more is buffered than was granted. */
export class LiveInput implements AsyncIterable<Uint8Array> {
  readonly #grant: (bytes: number) => void;
  /** Joined: a client may send a byte in each message. */
  readonly #waiting = new GrowingBuffer();
  #credit = firstLiveCredit;
  #taken = 0;
  #isOver = false;
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();

  /** `grant` lets the client send this many more bytes. */
  constructor(grant: (bytes: number) => void) {
    this.#grant = grant;
  }

  /** @throws RangeError for an empty message, for more than was granted, and after the end */
  receive(bytes: Uint8Array): void {
    if (bytes.length === 0) throw new RangeError("input has at least one byte a message");
    this.#credit -= bytes.length;
    if (this.#credit < 0) throw new RangeError("more input was sent than was granted");
    if (this.#isOver) throw new RangeError("input was sent after its end");
    this.#waiting.append(bytes);
    this.#wake.resolve();
  }

  /** There is no more input. */
  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      if (this.#waiting.length > 0) {
        const bytes = this.#waiting.take();
        for (let at = 0; at < bytes.length; at += maxLiveBytes) {
          const piece = bytes.subarray(at, at + maxLiveBytes);
          this.#grantAgain(piece.length);
          yield piece;
        }
      } else if (this.#isOver) return;
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  #grantAgain(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < liveCreditPortion && this.#credit >= liveCreditPortion) return;
    this.#credit += this.#taken;
    this.#grant(this.#taken);
    this.#taken = 0;
  }
}

/** How soon a client must send its request. */
const startWithinMs = 10_000;
/** How often to ping a connection; one that has not answered by the next ping is considered gone. */
const pingMs = 30_000;
/** A client that takes nothing for this long is considered gone, whatever it grants. */
const patienceMs = 60_000;
/** Maximum events that a client leaves unread. */
const maxWaitingBytes = 262_144;
/** What one connection may hold: unread events, input that was granted, and a message that is on its way. */
export const liveBytes: number = maxWaitingBytes + firstLiveCredit + maxLiveBytes;
/** How long sending the last event may take. */
const lastEventMs = 10_000;
/** Codes of WebSocket. */
const closed = { normal: 1000, badMessage: 1008 } as const;

/** Maximum bytes of a message in JSON after the first one, which has the request. */
const maxWordBytes = 1024;

type StartMessage = Extract<ClientMessage, { readonly type: "start" }>;
type Size = { readonly columns: number; readonly rows: number };

/**
 * The server's end of one live call: receives what the client sends, within limits, and sends events at the client's
 * pace.
 */
export class LiveConnection {
  readonly #socket: WebSocket;
  readonly #isLocal: boolean;
  readonly #gone = new AbortController();
  readonly #start = Promise.withResolvers<StartMessage | null>();
  readonly #input: LiveInput = new LiveInput((bytes) => this.#send({ event: "credit", bytes }));
  readonly #sizes = new NewestValues<Size>(1);
  readonly #signals = new NewestValues<SignalToSend>(16);
  readonly #encoder = new WireEncoder();
  #hasStarted = false;
  #bringsInput = false;
  #credit = firstLiveCredit;
  #granted: PromiseWithResolvers<void> = Promise.withResolvers();

  /**
   * `isLocal`: both ends are on this machine, where the kernel reports a client that is gone; one that is silent or
   * takes nothing has been suspended, and is waited for.
   */
  constructor(socket: WebSocket, { isLocal = false }: { readonly isLocal?: boolean } = {}) {
    this.#socket = socket;
    this.#isLocal = isLocal;
    socket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    // Each ping is answered with a pong, which its sender may not read.
    socket.on("ping", () => {
      if (socket.bufferedAmount > maxWaitingBytes) socket.terminate();
    });
    socket.on("close", () => this.#leave());
    socket.on("error", () => {
      // Its close follows.
    });
    if (!isLocal) this.#watchLife();
  }

  /** Aborts when the client has disconnected, violated the protocol, or asks for the end. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** What the call gets in addition to the request. */
  get streams(): Required<Pick<OperationCall, "stdin" | "sizes" | "signals">> {
    return { stdin: this.#input, sizes: this.#sizes, signals: this.#signals };
  }

  /** The client's first message; null if it sends none in time. */
  async started(): Promise<StartMessage | null> {
    await settlesWithin(this.#start.promise, startWithinMs);
    this.#start.resolve(null);
    return this.#start.promise;
  }

  /** Resolves when the client can take more, or immediately if it is gone. */
  readonly tell = async (event: OperationEvent): Promise<void> => {
    if (event.type === "output") return this.#output(event);
    if (event.type === "terminal") return this.#send({ event: "terminal" });
    for (const wire of this.#encoder.encode(event)) this.#send(wire);
  };

  /** The last event, after which the connection closes; `body`: a JSON text, `code`: a WebSocket close code. */
  end({ body, isError }: { readonly body: string; readonly isError: boolean }, code: number = closed.normal): void {
    const name = isError ? "error" : "result";
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(`{"event":"${name}","${name}":${body}}`);
    this.close(code, "");
  }

  /** Sends a reason and closes; `code`: a WebSocket close code. */
  close(code: number, why: string): void {
    this.#socket.close(code, why.slice(0, 100));
    const stalled = setTimeout(() => this.#socket.terminate(), lastEventMs).unref();
    this.#socket.once("close", () => clearTimeout(stalled));
    this.#leave();
  }

  async #output({ stream, bytes }: Extract<OperationEvent, { readonly type: "output" }>): Promise<void> {
    for (let at = 0; at < bytes.length && !this.gone.aborted;) {
      if (this.#credit === 0) {
        await this.#granted.promise;
        this.#granted = Promise.withResolvers();
        continue;
      }
      const piece = bytes.subarray(at, at + Math.min(this.#credit, maxLiveBytes));
      at += piece.length;
      this.#credit -= piece.length;
      const { promise: taken, resolve } = Promise.withResolvers<void>();
      // Also called when the connection has ended.
      this.#socket.send(Buffer.concat([Buffer.of(liveStreams[stream]), piece]), () => resolve());
      const isTaken = this.#isLocal ? taken.then(() => true) : settlesWithin(taken, patienceMs);
      if (!(await isTaken)) this.#socket.terminate();
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.gone.aborted) return;
    try {
      if (!isBinary) this.#obey(parseMessage(data, this.#hasStarted));
      else if (this.#bringsInput) this.#refuseInput();
      else if (this.#hasStarted && data.length <= maxLiveBytes) this.#input.receive(data);
      else throw new RangeError(`input comes after start, in messages of at most ${maxLiveBytes} bytes`);
    } catch (error) {
      const isOurs = error instanceof RangeError || error instanceof GloveboxError;
      const why = isOurs ? error.message : "a message is none of those that docs/http.md describes";
      this.close(closed.badMessage, why);
    }
  }

  /** Its request has it already, and one of the two would be lost. */
  #refuseInput(): void {
    const refusal = invalidField("stdin", "to be left out where standard input follows the request", "both");
    this.end({ body: JSON.stringify(refusal.toWire()), isError: true }, closed.badMessage);
  }

  #obey(message: ClientMessage): void {
    if ((message.type === "start") === this.#hasStarted) throw new RangeError("start comes first, and once");
    switch (message.type) {
      case "start":
        this.#hasStarted = true;
        this.#bringsInput = message.request["stdin"] !== undefined;
        return this.#start.resolve(message);
      case "input_end":
        return this.#input.end();
      case "resize":
        return this.#sizes.push({ columns: message.columns, rows: message.rows });
      case "signal":
        return this.#signals.push(message.signal);
      case "credit":
        // Never more than the initial amount: a client cannot have taken what it grants beyond that.
        this.#credit = Math.min(this.#credit + message.bytes, firstLiveCredit);
        return this.#granted.resolve();
      case "cancel":
        return this.#leave();
    }
  }

  #send(event: LiveEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > maxWaitingBytes) return this.#socket.terminate();
    this.#socket.send(JSON.stringify(event));
  }

  #leave(): void {
    this.#gone.abort();
    this.#start.resolve(null);
    this.#granted.resolve();
    this.#input.end();
    this.#sizes.end();
    this.#signals.end();
  }

  #watchLife(): void {
    let isAlive = true;
    this.#socket.on("pong", () => (isAlive = true));
    const timer = setInterval(() => {
      if (!isAlive) return this.#socket.terminate();
      isAlive = false;
      this.#socket.ping();
    }, pingMs);
    this.#socket.once("close", () => clearInterval(timer));
  }
}

/** @throws RangeError for one that is too large, anything for one that is not valid */
function parseMessage(data: Buffer, hasStarted: boolean): ClientMessage {
  if (hasStarted && data.length > maxWordBytes) throw new RangeError(`messages have at most ${maxWordBytes} bytes`);
  assertBoundedJson(data);
  return clientMessageSchema.parse(JSON.parse(data.toString("utf8")));
}
