import { Duplex } from "node:stream";
import { OutputPieces } from "./channel-output.ts";
import {
  readEnd,
  unexpected,
  type ChannelStream,
  type StreamEnd,
  type StreamFrame,
  type StreamLink,
  type Loss,
} from "./stream.ts";
import { frameLimits } from "../frames/frame-table.ts";
import type { FrameOf } from "../frames/frame.ts";

/** How a connection to a port was made, or was not. */
type Dialled = { readonly isOpen: true } | { readonly isOpen: false; readonly end: StreamEnd | null };

/** Bytes of a connection that wait in its stream beside those of its window. */
const readableBytes = 16_384;

/**
 * A connection to a program in the sandbox, or from one. Either direction can be ended by itself; one that breaks closes without
 * an end.
 */
export class Connection extends Duplex implements ChannelStream {
  /** When it is open, or cannot be opened; never rejects. `end` is null when the sandbox was lost. */
  readonly dialled: Promise<Dialled>;
  readonly #link: StreamLink;
  readonly #dialled = Promise.withResolvers<Dialled>();
  readonly #pieces: OutputPieces;
  #state: "opening" | "open" | "ended" = "opening";
  #isOutputOver = false;
  #isInputOver = false;
  #isWanted = false;
  #isEndPushed = false;

  constructor(link: StreamLink, isOpen: boolean) {
    super({ allowHalfOpen: true, readableHighWaterMark: readableBytes });
    this.#link = link;
    this.dialled = this.#dialled.promise;
    this.#pieces = new OutputPieces(link.consumed, () => this.#flow());
    if (isOpen) this.#opened();
    this.on("error", () => {
      // Its close follows.
    });
  }

  receive(frame: StreamFrame): void {
    if (frame.name === "OPENED") {
      if (this.#state !== "opening") throw unexpected(frame, "a connection that is open");
      this.#opened();
    } else if (frame.name === "OUTPUT") {
      if (this.#state !== "open" || this.#isOutputOver) throw unexpected(frame, "a connection without output");
      this.#pieces.push("stdout", frame.fields.tail);
    } else if (frame.name === "OUTPUT_END") {
      const fits = this.#state === "open" && !this.#isOutputOver && frame.fields.channel === 1;
      if (!fits) throw unexpected(frame, "a connection without output");
      this.#isOutputOver = true;
      this.#pieces.end();
    } else if (frame.name === "ENDED") {
      this.#end(readEnd(frame.fields), frame);
    } else {
      throw unexpected(frame, "a connection");
    }
  }

  lose(): void {
    this.#over(null);
    this.destroy();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#flow();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#link.input.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.#link.input.after(
      () => {
        this.#isInputOver = true;
        this.#link.send("INPUT_END", {});
      },
      () => done(),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isComplete = this.#isInputOver && this.#isOutputOver;
    if (this.#state !== "ended" && !isComplete) this.#link.send("CLOSE", {});
    this.#pieces.discard();
    done(error);
  }

  #opened(): void {
    this.#state = "open";
    this.#dialled.resolve({ isOpen: true });
  }

  #end(end: StreamEnd, frame: StreamFrame): void {
    const wasOpen = this.#state === "open";
    if (end.reason === "LOST") throw unexpected(frame, "a connection");
    if (end.reason === "DONE" && !(wasOpen && this.#isOutputOver))
      throw unexpected(frame, "a connection that has not ended");
    if (end.reason === "REFUSED" && wasOpen) throw unexpected(frame, "a connection that is open");
    this.#over(end);
    // What a complete one has said can still be read.
    if (end.reason !== "DONE") this.destroy();
  }

  #over(end: StreamEnd | null): void {
    this.#state = "ended";
    this.#dialled.resolve({ isOpen: false, end });
  }

  /** Hands on as much as its reader wants. */
  #flow(): void {
    while (this.#isWanted && !this.destroyed) {
      const piece = this.#pieces.take();
      if (piece === undefined) break;
      this.#isWanted = this.push(piece.bytes);
    }
    if (!this.#isOutputOver || !this.#pieces.isOver || this.#isEndPushed || this.destroyed) return;
    this.#isEndPushed = true;
    this.push(null);
  }
}

/** What comes to a port of the sandbox's loopback. */
export type Listening =
  | { readonly kind: "connections"; readonly onConnection: (connection: Duplex, peerPort: number) => void }
  | { readonly kind: "datagrams"; readonly onDatagram: (bytes: Uint8Array, peerPort: number) => void }
  /** The supervisor itself refuses them; the first are told. */
  | { readonly kind: "questions"; readonly onQuestion: (bytes: Uint8Array) => void };

/** Kinds of LISTEN, as its frame has them. */
export const listeningKinds: Readonly<Record<Listening["kind"], number>> = {
  connections: 0,
  datagrams: 1,
  questions: 2,
};

/** How a listener began. */
type ListenStart =
  | { readonly isBound: true; readonly port: number }
  | { readonly isBound: false; readonly end: StreamEnd | null };

/** The number of a port before a datagram's bytes. */
const portBytes = 2;

/** A port on the sandbox's loopback that the host listens on. */
export class Listener implements ChannelStream {
  /** Never rejects; `end` is null when the sandbox was lost. */
  readonly started: Promise<ListenStart>;
  /** When it listens no longer. */
  readonly ended: Promise<void>;
  readonly #link: StreamLink;
  readonly #listening: Listening;
  readonly #started = Promise.withResolvers<ListenStart>();
  readonly #ended = Promise.withResolvers<void>();
  #state: "binding" | "bound" | "ended" = "binding";
  #isClosing = false;
  #questions = 0;

  constructor(link: StreamLink, listening: Listening) {
    this.#link = link;
    this.#listening = listening;
    this.started = this.#started.promise;
    this.ended = this.#ended.promise;
  }

  /** Listens no longer; connections that were accepted stay. */
  close(): Promise<void> {
    if (this.#state !== "ended" && !this.#isClosing) this.#link.send("CLOSE", {});
    this.#isClosing = true;
    return this.ended;
  }

  /** Sends one datagram to a program. @throws RangeError when it is longer than 4,096 bytes */
  sendDatagram(bytes: Uint8Array, peerPort: number): void {
    if (bytes.length > frameLimits.maxDatagramBytes) {
      throw new RangeError(`expected at most ${frameLimits.maxDatagramBytes} bytes, got ${bytes.length}`);
    }
    if (this.#state === "bound") this.#link.send("DATAGRAM", { port: peerPort, tail: bytes });
  }

  /** A connection was accepted on it. @throws ProtocolError */
  accept(connection: Duplex, peerPort: number, frame: StreamFrame): void {
    if (this.#state !== "bound" || this.#listening.kind !== "connections")
      throw unexpected(frame, "which listens to none");
    if (this.#isClosing) connection.destroy();
    else this.#listening.onConnection(connection, peerPort);
  }

  receive(frame: StreamFrame): void {
    if (frame.name === "OPENED") {
      if (this.#state !== "binding") throw unexpected(frame, "a listener that is bound");
      this.#state = "bound";
      this.#started.resolve({ isBound: true, port: frame.fields.port });
    } else if (frame.name === "DATAGRAM") {
      if (this.#state !== "bound") throw unexpected(frame, "which takes none");
      this.#receiveDatagram(frame);
    } else if (frame.name === "ENDED") {
      const end = readEnd(frame.fields);
      if (end.reason === "LOST" || end.reason === "DONE") throw unexpected(frame, "a listener");
      this.#over(end);
    } else {
      throw unexpected(frame, "a listener");
    }
  }

  lose(_loss: Loss): void {
    this.#over(null);
  }

  #receiveDatagram(frame: FrameOf<"DATAGRAM">): void {
    const listening = this.#listening;
    const { port, tail } = frame.fields;
    if (listening.kind === "connections") throw unexpected(frame, "which takes none");
    const isQuestion = listening.kind === "questions";
    if (isQuestion && ++this.#questions > frameLimits.maxQuestions) throw unexpected(frame, "after the last question");
    const longest = isQuestion ? frameLimits.maxQuestionBytes : frameLimits.maxDatagramBytes;
    if (tail.length > longest) throw unexpected(frame, "longer than a datagram may be");
    this.#link.consumed(tail.length + portBytes);
    if (this.#isClosing) return;
    if (isQuestion) listening.onQuestion(Buffer.from(tail));
    else listening.onDatagram(Buffer.from(tail), port);
  }

  #over(end: StreamEnd | null): void {
    this.#state = "ended";
    this.#started.resolve({ isBound: false, end });
    this.#ended.resolve();
  }
}
