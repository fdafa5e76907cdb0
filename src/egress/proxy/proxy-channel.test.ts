import { duplexPair, type Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { ChannelMux } from "./proxy-channel.ts";
import {
  createFrameReader,
  encodeFrame,
  firstCreditBytes,
  frameTypes,
  type Frame,
  type MuxStream,
} from "../../base/mux-stream.ts";

interface Opened {
  readonly far: Duplex;
  readonly near: Duplex;
  readonly streams: readonly MuxStream[];
  readonly frames: readonly Frame[];
  readonly send: (type: number, connection: number, payload?: Uint8Array) => void;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
async function turns(count = 20): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

function open(maxConnections = 4): Opened {
  const [near, far] = duplexPair();
  const streams: MuxStream[] = [];
  const frames: Frame[] = [];
  const read = createFrameReader();
  far.on("data", (bytes: Buffer) => frames.push(...read(bytes)));
  const mux = new ChannelMux({
    socket: near,
    idleMs: 60_000,
    maxConnections,
    onConnection: (stream) => void streams.push(stream),
    onBytes: () => true,
  });
  near.once("close", () => mux.resetAll());
  return { far, near, streams, frames, send: (...frame) => void far.write(encodeFrame(...frame)) };
}

describe("ChannelMux", () => {
  it("carries a connection's data and both its ends", async () => {
    const { streams, frames, send } = open();
    send(frameTypes.open, 1);
    send(frameTypes.data, 1, Buffer.from("ask"));
    send(frameTypes.end, 1);
    await turns();
    expect(await text(streams[0]!)).toBe("ask");
    streams[0]!.end("answer");
    await turns();
    expect(frames.map(({ type, payload }) => [type, payload.toString()])).toEqual([
      [frameTypes.data, "answer"],
      [frameTypes.end, ""],
    ]);
  });

  it("sends no more than it was granted", async () => {
    const { streams, frames, send } = open();
    send(frameTypes.open, 1);
    await turns();
    streams[0]!.write(Buffer.alloc(firstCreditBytes + 1000));
    await turns(60);
    const sent = (): number => frames.reduce((sum, { payload }) => sum + payload.length, 0);
    expect(sent()).toBe(firstCreditBytes);
    const grant = Buffer.alloc(4);
    grant.writeUInt32BE(400);
    send(frameTypes.credit, 1, grant);
    await turns();
    expect(sent()).toBe(firstCreditBytes + 400);
  });

  it("grants more only for what was consumed", async () => {
    const { streams, frames, send } = open();
    send(frameTypes.open, 1);
    for (let left = firstCreditBytes; left > 0; left -= 65_536) send(frameTypes.data, 1, Buffer.alloc(65_536));
    await turns();
    expect(frames).toEqual([]);
    streams[0]!.resume();
    await turns();
    const granted = frames
      .filter(({ type }) => type === frameTypes.credit)
      .map(({ payload }) => payload.readUInt32BE(0));
    const sum = granted.reduce((all, each) => all + each, 0);
    // The last portion is granted with the next that comes.
    expect([firstCreditBytes - 65_536, firstCreditBytes]).toContain(sum);
  });

  it.each([
    [
      "data beyond the credit",
      [...Array.from({ length: 5 }, () => encodeFrame(frameTypes.data, 1, Buffer.alloc(65_536)))],
    ],
    ["a number that was used before", [encodeFrame(frameTypes.open, 1)]],
    ["too many connections", [2, 3, 4, 5].map((number) => encodeFrame(frameTypes.open, number))],
    ["a credit that is no number", [encodeFrame(frameTypes.credit, 1, Buffer.from("x"))]],
    ["an unknown type", [Buffer.from([9, 0, 0, 0, 1, 0, 0, 0, 0])]],
    ["a frame that is too long", [Buffer.from([2, 0, 0, 0, 1, 0xff, 0, 0, 0])]],
  ])("closes the channel for %s", async (_, frames) => {
    const { far, near, streams, send } = open();
    send(frameTypes.open, 1);
    for (const frame of frames) far.write(frame);
    await once(near, "close");
    await turns();
    expect(streams.every((stream) => stream.destroyed)).toBe(true);
  });

  it("forgets connections that are over, so that new ones may come", async () => {
    const { near, streams, send } = open(2);
    for (let number = 1; number <= 50; number++) {
      send(frameTypes.open, number);
      send(frameTypes.reset, number);
      await turns(5);
    }
    expect(near.destroyed).toBe(false);
    expect(streams.length).toBe(50);
  });
});
