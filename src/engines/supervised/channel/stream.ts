import { frameLimits, ends, stages } from "../frames/frame-table.ts";
import { ProtocolError, type FrameFields, type FrameOf, type HostFrameName } from "../frames/frame.ts";
import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { LeftProcesses } from "../frames/tree-records.ts";

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

/** Frames that a stream is given; the channel itself handles what belongs to credit, and questions that any stream may have. */
export type StreamFrame = FrameOf<
  "STARTED" | "OUTPUT" | "ERROR_OUTPUT" | "OUTPUT_END" | "EXIT" | "OPENED" | "ACCEPTED" | "DATAGRAM" | "ENDED"
>;

/** How a stream ended. */
export interface StreamEnd {
  readonly reason: keyof typeof ends;
  readonly stage: keyof typeof stages | null;
  /** 0: none. */
  readonly errno: number;
  readonly first: bigint;
  readonly second: bigint;
}

/** What became of everything in a sandbox whose channel is over. */
export interface Loss {
  /** Null: we ended it ourselves, so that its programs count as killed. */
  readonly error: GloveboxError | null;
  /** Whether it is certain that nothing in it lives any more. */
  readonly isGone: boolean;
}

/** What one stream may do on its channel; once it has ended nothing of it has an effect. */
export interface StreamLink {
  readonly number: number;
  readonly input: InputLane;
  readonly send: <Name extends HostFrameName>(name: Name, fields: FrameFields<Name>) => void;
  /** Gives bytes of its output back. */
  readonly consumed: (bytes: number) => void;
  readonly askLeft: () => Promise<LeftProcesses>;
}

/** One stream as the channel sees it. */
export interface ChannelStream {
  /** @throws ProtocolError for what does not fit its state */
  receive(frame: StreamFrame): void;
  /** The channel is over, and the stream with it; called at most once, and not after ENDED. */
  lose(loss: Loss): void;
}

const endNames = namesOf(ends);
const stageNames = namesOf(stages);

/** @throws ProtocolError */
export function readEnd({ reason, stage, error, first, second }: FrameFields<"ENDED">): StreamEnd {
  const reasonName = endNames.get(reason);
  const stageName = stage === 0 ? null : stageNames.get(stage);
  if (reasonName === undefined || stageName === undefined) {
    throw new ProtocolError(`ENDED with reason ${reason}, stage ${stage}`);
  }
  return { reason: reasonName, stage: stageName, errno: error, first, second };
}

/** A frame that its stream cannot have now. */
export function unexpected({ name, stream }: Pick<StreamFrame, "name" | "stream">, state: string): ProtocolError {
  return new ProtocolError(`${name} for stream ${stream}, ${state}`);
}

/** Why a channel is over. */
export type ChannelEndReason =
  /** We asked for the end of everything inside, and it came. */
  | "asked"
  /** We gave it up. */
  | "closed"
  /** The stream of bytes ended or broke. */
  | "cut"
  /** The supervisor did not answer in time. */
  | "silent"
  /** It said what does not fit the protocol. */
  | "nonsense"
  /** It said that it ends, and why. */
  | "trouble"
  /** It is not what it must be. */
  | "refused"
  /** It reads nothing any more of what it is sent. */
  | "stuck";

/** How a channel ended. */
export interface ChannelEnd {
  readonly reason: ChannelEndReason;
  /** One sentence for the log: what the supervisor says may be in it, which is untrusted. */
  readonly detail: string;
  /** The supervisor's exit code, where it told one. */
  readonly code: number | null;
}

/** Text of the supervisor's for the log: printable, and bounded by its frame. */
export function shownText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[^ -~]/g, "?");
}

/** What of it is taken from what all share. */
function shareOf(outstanding: number): number {
  return Math.max(0, outstanding - ownBytes);
}

function namesOf<Name extends string>(numbers: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  return new Map(Object.entries(numbers).map(([name, number]) => [number as number, name as Name]));
}
