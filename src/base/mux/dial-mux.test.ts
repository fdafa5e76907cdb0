import { text } from "node:stream/consumers";
import type { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { DialMux } from "./dial-mux.ts";
import { createFrameReader, encodeFrame, firstCreditBytes, frameTypes, type Frame } from "./frames.ts";

const { hello, open, data, end, reset, credit } = frameTypes;

interface Opened {
  readonly mux: DialMux;
  /** All that the forwarder has received. */
  readonly frames: readonly Frame[];
  readonly say: (type: number, connection: number, payload?: string | Uint8Array) => void;
}

function channel(): Opened {
  const frames: Frame[] = [];
  const read = createFrameReader();
  const mux = new DialMux((frame, sent) => {
    frames.push(...read(frame));
    setImmediate(sent);
  });
  const say: Opened["say"] = (type, connection, payload = "") =>
    mux.receive(encodeFrame(type, connection, Buffer.from(payload)));
  return { mux, frames, say };
}

async function connected(opened: Opened, port = 80): Promise<Duplex> {
  const dialled = opened.mux.dial(port);
  opened.say(open, opened.frames.at(-1)!.connection);
  const stream = await dialled;
  if (typeof stream === "string") throw new Error(stream);
  return stream;
}

describe("DialMux", () => {
  it("is ready when the forwarder says so", async () => {
    const { mux, say } = channel();
    say(hello, 0);
    await mux.ready;
    expect(mux.isClosed).toBe(false);
  });

  it("asks for the port and carries both ways when it is reached", async () => {
    const opened = channel();
    const stream = await connected(opened, 8080);
    expect(opened.frames[0]).toMatchObject({ type: open, connection: 1, payload: Buffer.from([0x1f, 0x90]) });
    opened.say(data, 1, "answer");
    opened.say(end, 1);
    expect(await text(stream)).toBe("answer");
    stream.end("question");
    await new Promise((resolve) => void stream.once("close", resolve));
    expect(opened.frames.slice(1).map(({ type, payload }) => [type, payload.toString()])).toEqual([
      [data, "question"],
      [end, ""],
    ]);
    expect(opened.mux.size).toBe(0);
  });

  it("tells a refused connection", async () => {
    const opened = channel();
    const dialled = opened.mux.dial(80);
    opened.say(reset, 1);
    expect(await dialled).toBe("refused");
    expect(opened.mux.size).toBe(0);
    expect(opened.frames).toHaveLength(1);
  });

  it("takes an attempt back that is given up", async () => {
    const opened = channel();
    const abort = new AbortController();
    const dialled = opened.mux.dial(80, abort.signal);
    abort.abort();
    expect(await dialled).toBe("closed");
    expect(opened.frames.map(({ type }) => type)).toEqual([open, reset]);
    opened.say(open, 1);
    expect(opened.mux.size).toBe(0);
  });

  it("ends everything with the channel", async () => {
    const opened = channel();
    const stream = await connected(opened);
    const closed = new Promise((resolve) => void stream.once("close", resolve));
    const dialled = opened.mux.dial(81);
    opened.mux.close();
    await closed;
    expect(await dialled).toBe("closed");
    expect(await opened.mux.dial(82)).toBe("closed");
    await opened.mux.ready;
    expect(opened.mux.isClosed).toBe(true);
  });

  it("grants a slow reader more as it reads, and not before", async () => {
    const opened = channel();
    const stream = await connected(opened);
    const piece = Buffer.alloc(32_768);
    let left = 40;
    let allowed = firstCreditBytes;
    const answered = new Set<Frame>(opened.frames);
    const sendAllowed = (): void => {
      for (const frame of opened.frames) {
        if (frame.type !== credit || answered.has(frame)) continue;
        answered.add(frame);
        allowed += frame.payload.readUInt32BE(0);
      }
      for (; left > 0 && allowed >= piece.length; left--, allowed -= piece.length) opened.say(data, 1, piece);
      if (left === 0) opened.say(end, 1);
    };
    sendAllowed();
    await new Promise((resolve) => setImmediate(resolve));
    sendAllowed();
    expect(left).toBe(40 - firstCreditBytes / piece.length);
    let received = 0;
    for await (const bytes of stream) {
      received += (bytes as Buffer).length;
      await new Promise((resolve) => setImmediate(resolve));
      sendAllowed();
    }
    expect(received).toBe(40 * piece.length);
  });

  it.each([
    ["data before the answer", (say: Opened["say"]) => say(data, 1, "x")],
    ["credit of another size", (say: Opened["say"]) => (say(open, 1), say(credit, 1, "x"))],
    [
      "data beyond the credit",
      (say: Opened["say"]) => {
        say(open, 1);
        for (let sent = 0; sent <= firstCreditBytes; sent += 65_536) say(data, 1, Buffer.alloc(65_536));
      },
    ],
  ])("refuses %s", (_, misbehave) => {
    const { mux, say } = channel();
    void mux.dial(80);
    expect(() => misbehave(say)).toThrow(RangeError);
  });
});
