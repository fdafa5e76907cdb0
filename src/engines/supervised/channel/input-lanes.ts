import { frameLimits } from "../frames/frame-table.ts";
import { ProtocolError } from "../frames/frame.ts";

const { inputTotalBytes, inputWindowBytes, maxStreams, sliceBytes } = frameLimits;

/**
 * What each stream may always have on its way. Programs that read nothing can use up the other half of the total, and no
 * more: a program can still be started, a file written.
 */
const ownBytes = inputTotalBytes / 2 / maxStreams;
const sharedBytes = inputTotalBytes - ownBytes * maxStreams;

type Queued =
  | { readonly kind: "bytes"; bytes: Uint8Array; readonly done: () => void }
  | { readonly kind: "act"; readonly act: () => void; isReady: boolean; readonly done: () => void };

/** Input of one stream, in order: bytes as there is credit for them, and what is to be said between them. */
export class InputLane {
  readonly #budget: InputLanes;
  readonly #send: (bytes: Uint8Array) => void;
  #queue: Queued[] = [];
  #isClosed = false;
  outstanding = 0;

  constructor(budget: InputLanes, send: (bytes: Uint8Array) => void) {
    this.#budget = budget;
    this.#send = send;
  }

  /** `done` is called when all of it is on its way, or never will be. */
  write(bytes: Uint8Array, done: () => void): void {
    if (this.#isClosed || bytes.length === 0) return done();
    this.#queue.push({ kind: "bytes", bytes, done });
    this.#budget.serve(this);
  }

  /** Calls `act` after all that was written before, then `done`; `done` alone when the stream ends before. */
  after(act: () => void, done: () => void): void {
    if (this.#isClosed) return done();
    this.#queue.push({ kind: "act", act, isReady: true, done });
    this.#budget.serve(this);
  }

  /** Lets nothing that is written later pass before the result is called, and calls `act` then. */
  gate(act: () => void): () => void {
    const gate: Queued = { kind: "act", act, isReady: false, done: () => undefined };
    this.#queue.push(gate);
    return () => {
      gate.isReady = true;
      if (!this.#isClosed) this.#budget.serve(this);
    };
  }

  /** The stream has ended: what is written is thrown away. */
  close(): void {
    this.#isClosed = true;
    const queue = this.#queue;
    this.#queue = [];
    for (const { done } of queue) done();
  }

  /** Sends at most so many bytes, and what is to be said meanwhile; resolves to how many it has sent. */
  send(maxBytes: number): number {
    let sent = 0;
    for (;;) {
      const [first] = this.#queue;
      if (first === undefined) return sent;
      if (first.kind === "act") {
        if (!first.isReady) return sent;
        this.#queue.shift();
        first.act();
        first.done();
      } else {
        const piece = first.bytes.subarray(0, maxBytes - sent);
        if (piece.length === 0) return sent;
        sent += piece.length;
        this.outstanding += piece.length;
        first.bytes = first.bytes.subarray(piece.length);
        this.#send(piece);
        if (first.bytes.length > 0) return sent;
        this.#queue.shift();
        first.done();
      }
    }
  }

  /** Whether it could send if it had credit. */
  get hasBytes(): boolean {
    return this.#queue[0]?.kind === "bytes";
  }
}

/** The credit for input of all streams of one sandbox, and the turns they take. */
export class InputLanes {
  readonly #lanes = new Map<number, InputLane>();
  /** Lanes that wait for credit, the one whose turn it is first. */
  readonly #waiting = new Set<InputLane>();
  #shared = 0;
  #isServing = false;
  #isAsked = false;

  open(stream: number, send: (bytes: Uint8Array) => void): InputLane {
    const lane = new InputLane(this, send);
    this.#lanes.set(stream, lane);
    return lane;
  }

  /** @throws ProtocolError for credit that nothing was given for */
  credit(stream: number, bytes: number): void {
    const lane = this.#lanes.get(stream);
    if (lane === undefined) throw new ProtocolError(`CREDIT for stream ${stream}, which is not live`);
    if (bytes === 0 || bytes > lane.outstanding) throw new ProtocolError("CREDIT for more than was sent");
    this.#setOutstanding(lane, lane.outstanding - bytes);
    this.#serveAll();
  }

  /** The stream has ended: all of its credit is here again. */
  close(stream: number): void {
    const lane = this.#lanes.get(stream);
    if (lane === undefined) return;
    this.#lanes.delete(stream);
    this.#waiting.delete(lane);
    this.#setOutstanding(lane, 0);
    lane.close();
    this.#serveAll();
  }

  /** A lane has something to send, or may again. */
  serve(lane: InputLane): void {
    this.#waiting.add(lane);
    this.#serveAll();
  }

  #serveAll(): void {
    this.#isAsked = true;
    // What a lane says may make another one want to send.
    if (this.#isServing) return;
    this.#isServing = true;
    while (this.#isAsked) {
      this.#isAsked = false;
      // A copy: a lane that has had its turn goes to the end.
      for (const lane of [...this.#waiting]) {
        if (!this.#waiting.delete(lane)) continue;
        const before = lane.outstanding;
        const sent = lane.send(Math.min(sliceBytes, this.#allowance(lane)));
        this.#shared += shareOf(lane.outstanding) - shareOf(before);
        if (lane.hasBytes) this.#waiting.add(lane);
        if (sent > 0) this.#isAsked = true;
      }
    }
    this.#isServing = false;
  }

  #allowance(lane: InputLane): number {
    const own = Math.max(0, ownBytes - lane.outstanding);
    return Math.min(inputWindowBytes - lane.outstanding, own + sharedBytes - this.#shared);
  }

  #setOutstanding(lane: InputLane, bytes: number): void {
    this.#shared += shareOf(bytes) - shareOf(lane.outstanding);
    lane.outstanding = bytes;
  }
}

/** What of it is taken from what all share. */
function shareOf(outstanding: number): number {
  return Math.max(0, outstanding - ownBytes);
}
