import type { Duplex } from "node:stream";
import { frameLimits } from "../frames/frame-table.ts";
import type { FrameOf } from "../frames/frame.ts";
import {
  readEnd,
  unexpected,
  type ChannelStream,
  type Loss,
  type StreamEnd,
  type StreamFrame,
  type StreamLink,
} from "./stream.ts";

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
export type ListenStart =
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
