import { once } from "node:events";
import { duplexPair, type Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { ControlStream } from "./place.ts";

function framed(stream: number, text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function open(): { stream: ControlStream; socket: Duplex; engine: Duplex } {
  const [socket, engine] = duplexPair();
  return { stream: new ControlStream(socket), socket, engine };
}

describe("ControlStream", () => {
  it("passes on what comes from standard output, also in pieces, and nothing else", async () => {
    const { stream, engine } = open();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const all = Buffer.concat([framed(2, "supervisor: words\n"), framed(1, bytes), framed(1, "end")]);
    for (const byte of all) engine.write(Buffer.from([byte]));
    engine.end();
    const got = await stream.toArray();
    expect(Buffer.concat(got as Buffer[])).toEqual(Buffer.concat([bytes, Buffer.from("end")]));
  });

  it("writes bytes as they are, what is corked in one piece", async () => {
    const { stream, engine } = open();
    stream.cork();
    stream.write(Buffer.from([0, 1]));
    stream.write(Buffer.from([255]));
    stream.uncork();
    const [piece] = (await once(engine, "data")) as [Buffer];
    expect([...piece]).toEqual([0, 1, 255]);
  });

  it("does not read on while nobody reads it", async () => {
    const { stream, engine } = open();
    const piece = Buffer.alloc(65_536);
    let written = 0;
    while (written < 100 && engine.write(framed(1, piece))) written += 1;
    await new Promise((resolve) => setImmediate(resolve));
    expect(stream.readableLength).toBeLessThan(3 * piece.length);
    let read = 0;
    stream.on("data", (bytes: Buffer) => (read += bytes.length));
    engine.end();
    await once(stream, "end");
    expect(read).toBe((written + 1) * piece.length);
  });

  it("is over with its connection, and ends that", async () => {
    const ended = open();
    ended.stream.resume();
    ended.engine.end();
    await once(ended.stream, "close");
    const broken = open();
    broken.socket.destroy();
    await once(broken.stream, "close");
    const given = open();
    given.stream.destroy();
    expect(given.socket.destroyed).toBe(true);
  });

  it("is over when its engine frames nothing", async () => {
    const { stream, engine } = open();
    stream.resume();
    engine.write(Buffer.alloc(8, 9));
    const [error] = (await once(stream, "error")) as [Error];
    expect(error).toMatchObject({ errorType: "INTERNAL" });
  });
});
