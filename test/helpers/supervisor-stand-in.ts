import { duplexPair, type Duplex } from "node:stream";
import type { ChannelEnd, Loss } from "../../src/engines/supervised/channel/stream.ts";
import { channelTimes, SupervisorChannel, type ChannelOptions } from "../../src/engines/supervised/channel/channel.ts";
import type { SupervisorTerms } from "../../src/engines/supervised/channel/hello.ts";
import {
  encodeFrame,
  FrameReader,
  type FrameFields,
  type FrameOf,
  type HostFrameName,
  type SupervisorFrameName,
} from "../../src/engines/supervised/frames/frame.ts";
import { ends, factBits } from "../../src/engines/supervised/frames/frame-table.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";

/** What the stand-in is expected to be. */
export const standInTerms: SupervisorTerms = {
  build: "0123abcd",
  mode: "apart",
  architecture: "x64",
  becomes: null,
  own: { user: 0, group: 0 },
  capabilities: 0xe0n,
  programs: { user: 65_527, group: 65_527 },
  tags: null,
  filter: Buffer.from([6, 0, 0, 0, 0, 0, 255, 127]),
  probes: [
    { call: 400, errno: 3001 },
    { call: 401, errno: 3002 },
    { call: 256, errno: 1 },
  ],
  facts: ["SUBREAPER"],
};

/** The introduction that fits these terms. */
const standInHello: FrameFields<"HELLO"> = {
  version: 1,
  mode: 1,
  cgroup: 2,
  architecture: 1,
  facts: factBits.SUBREAPER | factBits.FILTER,
  user: 0,
  group: 0,
  capabilities: 0xe0n,
  descriptors: 4096,
  processors: 2,
  probe1: 3001,
  probe2: 3002,
  probe3: 1,
  probeCapabilities: 0n,
  tail: Buffer.from("0123abcd"),
};

/** A frame of the host's, as the stand-in got it. */
export type HostFrame = FrameOf<HostFrameName>;

/** A supervisor that says whatever a test wants it to say, and remembers all that it is told. */
export class SupervisorStandIn {
  readonly transport: Duplex;
  readonly frames: HostFrame[] = [];
  readonly epoch: number;
  /** The supervisor's side of the stream. */
  readonly side: Duplex;
  /** Whether each PING is answered; default true. */
  answersPings = true;
  readonly #listeners = new Set<() => void>();

  constructor(epoch: number) {
    this.epoch = epoch;
    [this.transport, this.side] = duplexPair();
    const reader = new FrameReader<HostFrameName>("host", epoch);
    this.side.on("error", () => undefined);
    this.side.on("data", (bytes: Buffer) => {
      reader.read(bytes, (frame) => {
        this.frames.push(frame);
        if (frame.name === "PING" && this.answersPings) this.say("PONG", 0, { nonce: frame.fields.nonce });
      });
      for (const listener of this.#listeners) listener();
    });
  }

  say<Name extends SupervisorFrameName>(name: Name, stream: number, fields: FrameFields<Name>): void {
    this.raw(encodeFrame(name, { epoch: this.epoch, stream }, fields));
  }

  raw(bytes: Uint8Array): void {
    if (this.side.writable) this.side.write(bytes);
  }

  hello(instead: Partial<FrameFields<"HELLO">> = {}): void {
    this.say("HELLO", 0, { ...standInHello, ...instead });
  }

  output(stream: number, bytes: string | Uint8Array): void {
    this.say("OUTPUT", stream, { tail: Buffer.from(bytes) });
  }

  exit(stream: number, code = 0): void {
    this.say("EXIT", stream, { code, signal: 0, userUs: 1000n, systemUs: 500n, maxResidentKb: 64n });
  }

  end(stream: number, instead: Partial<FrameFields<"ENDED">> = {}): void {
    this.say("ENDED", stream, { reason: ends.DONE, stage: 0, error: 0, first: 0n, second: 0n, ...instead });
  }

  /** Frames of that name, in order. */
  got<Name extends HostFrameName>(name: Name): FrameOf<Name>[] {
    return this.frames.filter((frame): frame is FrameOf<Name> & HostFrame => frame.name === name) as FrameOf<Name>[];
  }

  /** The `count`th frame of that name, as soon as it is there. */
  async next<Name extends HostFrameName>(name: Name, count = 1): Promise<FrameOf<Name>> {
    for (;;) {
      const frame = this.got(name)[count - 1];
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  /** Bytes of INPUT that came on a stream. */
  input(stream: number): Buffer {
    return Buffer.concat(this.got("INPUT").flatMap((frame) => (frame.stream === stream ? [frame.fields.tail] : [])));
  }
}

export interface OpenedChannel {
  readonly standIn: SupervisorStandIn;
  readonly channel: SupervisorChannel;
  /** What `explain` was asked, in order. */
  readonly asked: ChannelEnd[];
}

const standInLoss: Loss = {
  error: new GloveboxError("SANDBOX_LOST", "The stand-in was lost."),
  isGone: true,
};

/** A channel to a stand-in that has not introduced itself yet. */
export function openChannel(instead: Partial<ChannelOptions> = {}): OpenedChannel {
  const asked: ChannelEnd[] = [];
  const standIn = new SupervisorStandIn(instead.epoch ?? 7);
  const channel = new SupervisorChannel({
    transport: standIn.transport,
    epoch: 7,
    terms: standInTerms,
    explain: async (end) => {
      asked.push(end);
      return end.reason === "asked" || end.reason === "closed" ? { error: null, isGone: true } : standInLoss;
    },
    times: { ...channelTimes, pingMs: 3_600_000 },
    ...instead,
  });
  return { standIn, channel, asked };
}

/** The same after its introduction. */
export async function readyChannel(instead: Partial<ChannelOptions> = {}): Promise<OpenedChannel> {
  const opened = openChannel(instead);
  opened.standIn.hello();
  await opened.channel.hello();
  return opened;
}
