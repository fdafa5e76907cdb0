import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import { ends, stages } from "../frames/frame-table.ts";
import { ProtocolError, type FrameFields, type FrameOf, type HostFrameName } from "../frames/frame.ts";
import type { LeftProcesses } from "../frames/tree-records.ts";
import type { InputLane } from "./input-lanes.ts";

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

function namesOf<Name extends string>(numbers: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  return new Map(Object.entries(numbers).map(([name, number]) => [number as number, name as Name]));
}
