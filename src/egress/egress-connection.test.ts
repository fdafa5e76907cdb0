import { duplexPair, type Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createFrameReader, encodeFrame, frameTypes, type Frame } from "../base/mux-stream.ts";
import { ConnectionRelay } from "./egress-connection.ts";

interface Relaying {
  readonly relay: ConnectionRelay;
  /** What the proxy was sent. */
  readonly frames: readonly Frame[];
  /** A program connects: its own end. */
  readonly connect: () => Duplex;
  readonly accepted: readonly Duplex[];
}

function relaying(): Relaying {
  const frames: Frame[] = [];
  const read = createFrameReader();
  const relay = new ConnectionRelay((frame, sent) => {
    frames.push(...read(frame));
    setImmediate(sent);
  });
  const accepted: Duplex[] = [];
  const connect = (): Duplex => {
    const [inside, outside] = duplexPair();
    inside.on("error", () => undefined);
    accepted.push(outside);
    relay.accept(outside);
    return inside;
  };
  return { relay, frames, connect, accepted };
}

async function turns(count = 20): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

describe("ConnectionRelay", () => {
  it("carries both directions, each with its own end", async () => {
    const { relay, frames, connect } = relaying();
    const program = connect();
    program.end("question");
    await turns();
    relay.receive(encodeFrame(frameTypes.data, 1, Buffer.from("answer")));
    relay.receive(encodeFrame(frameTypes.end, 1));
    expect(await text(program)).toBe("answer");
    expect(frames.map(({ type, payload }) => [type, payload.toString()])).toEqual([
      [frameTypes.open, ""],
      [frameTypes.data, "question"],
      [frameTypes.end, ""],
    ]);
  });

  it("loses nothing that was said before the proxy reads no more", async () => {
    const { relay, connect } = relaying();
    const program = connect();
    program.write("question");
    await turns();
    const answer = Buffer.alloc(200_000, "a");
    for (let at = 0; at < answer.length; at += 50_000)
      relay.receive(encodeFrame(frameTypes.data, 1, answer.subarray(at, at + 50_000)));
    relay.receive(Buffer.concat([encodeFrame(frameTypes.end, 1), encodeFrame(frameTypes.reset, 1)]));
    expect((await buffer(program)).equals(answer)).toBe(true);
  });

  it("breaks off what the proxy has broken off, so that half an answer is none", async () => {
    const { relay, connect, accepted } = relaying();
    connect();
    await turns();
    relay.receive(encodeFrame(frameTypes.data, 1, Buffer.from("half")));
    relay.receive(encodeFrame(frameTypes.reset, 1));
    await turns();
    expect(accepted[0]).toMatchObject({ destroyed: true, writableEnded: false });
  });

  it("lets connections wait beyond 64, and forgets those that give up", async () => {
    const { frames, connect, accepted } = relaying();
    for (let count = 0; count < 70; count++) connect();
    const opened = (): number => frames.filter(({ type }) => type === frameTypes.open).length;
    expect(opened()).toBe(64);
    for (const waiting of accepted.slice(64, 69)) waiting.destroy();
    accepted[0]?.destroy();
    accepted[1]?.destroy();
    await turns();
    expect(opened()).toBe(65);
  });

  it("ends all with its channel, and takes none after that", async () => {
    const { relay, connect, accepted } = relaying();
    for (let count = 0; count < 66; count++) connect();
    relay.close();
    connect();
    await turns();
    expect(accepted.map(({ destroyed }) => destroyed)).toEqual(Array(67).fill(true));
  });

  it.each([
    ["a connection of its own", encodeFrame(frameTypes.open, 1)],
    ["an unknown frame", encodeFrame(0, 1)],
    ["a credit that is no number", encodeFrame(frameTypes.credit, 1, Buffer.from("x"))],
    ["data beyond the credit", Buffer.concat(Array(5).fill(encodeFrame(frameTypes.data, 1, Buffer.alloc(65_536))))],
  ])("refuses %s", async (_, bytes) => {
    const { relay, connect } = relaying();
    connect();
    await turns();
    expect(() => relay.receive(bytes)).toThrow(RangeError);
  });
});
