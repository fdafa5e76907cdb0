import { Duplex } from "node:stream";
import { OutputPieces } from "./output-pieces.ts";
import {
  readEnd,
  unexpected,
  type ChannelStream,
  type StreamEnd,
  type StreamFrame,
  type StreamLink,
} from "./stream.ts";

/** How a connection to a port was made, or was not. */
export type Dialled = { readonly isOpen: true } | { readonly isOpen: false; readonly end: StreamEnd | null };

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
