import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { readyChannel, type OpenedChannel } from "../../../../test/helpers/supervisor-stand-in.ts";
import { until } from "../../../../test/helpers/until.ts";
import type { Connection, Listener } from "./connection.ts";

async function connected(): Promise<OpenedChannel & { readonly connection: Connection }> {
  const opened = await readyChannel();
  const connection = await opened.channel.dial(8080, 4, 5000);
  expect((await opened.standIn.next("DIAL")).fields).toEqual({
    port: 8080,
    family: 4,
    deadlineMs: 5000,
    tail: Buffer.alloc(0),
  });
  opened.standIn.say("OPENED", 1, { port: 40_000 });
  expect(await connection.dialled).toEqual({ isOpen: true });
  return { ...opened, connection };
}

describe("Connection", () => {
  it("carries both ways, and each way ends by itself", async () => {
    const { standIn, channel, connection } = await connected();
    standIn.output(1, "answer");
    standIn.say("OUTPUT_END", 1, { channel: 1 });
    expect(await text(connection)).toBe("answer");
    connection.end("question");
    await standIn.next("INPUT_END");
    expect(standIn.input(1).toString()).toBe("question");
    standIn.end(1);
    await channel.ping();
    expect(connection.destroyed).toBe(true);
    expect(standIn.got("CLOSE")).toEqual([]);
  });

  it("can still be read when it has ended", async () => {
    const { standIn, channel, connection } = await connected();
    connection.end();
    await standIn.next("INPUT_END");
    for (let count = 0; count < 4; count += 1) standIn.output(1, Buffer.alloc(16_384, "x"));
    standIn.say("OUTPUT_END", 1, { channel: 1 });
    standIn.end(1);
    await channel.ping();
    expect(await text(connection)).toHaveLength(65_536);
  });

  it("holds its peer up as long as nobody reads", async () => {
    const { standIn, channel, connection } = await connected();
    for (let count = 0; count < 4; count += 1) standIn.output(1, Buffer.alloc(16_384));
    await channel.ping();
    const given = (): number => standIn.got("CREDIT").reduce((sum, { fields }) => sum + fields.bytes, 0);
    expect(given()).toBeLessThanOrEqual(16_384);
    connection.resume();
    await until(() => given() === 65_536);
  });

  it("closes without an end when it breaks", async () => {
    const { standIn, connection } = await connected();
    let hasEnded = false;
    connection.on("end", () => (hasEnded = true));
    standIn.output(1, "half");
    connection.resume();
    standIn.end(1, { reason: 1, stage: 12, error: 104 });
    await once(connection, "close");
    expect(hasEnded).toBe(false);
  });

  it("is closed inside when it is given up here, once", async () => {
    const { standIn, channel, connection } = await connected();
    connection.destroy();
    await standIn.next("CLOSE");
    standIn.output(1, Buffer.alloc(30_000));
    standIn.output(1, Buffer.alloc(30_000));
    standIn.end(1, { reason: 4 });
    await channel.ping();
    expect(standIn.got("CLOSE")).toHaveLength(1);
    expect(channel.isOver).toBe(false);
  });

  it("tells that nothing listens", async () => {
    const { standIn, channel } = await readyChannel();
    const connection = await channel.dial(1, 6, 100);
    standIn.end(1, { reason: 1, stage: 14, error: 111 });
    expect(await connection.dialled).toMatchObject({ isOpen: false, end: { stage: "CONNECT", errno: 111 } });
    expect(connection.destroyed).toBe(true);
  });

  it("ends with its sandbox", async () => {
    const { standIn, connection } = await connected();
    standIn.side.end();
    await once(connection, "close");
    expect(connection.readableEnded).toBe(false);
  });
});

describe("Listener", () => {
  async function listening(): Promise<OpenedChannel & { readonly listener: Listener; readonly accepted: Duplex[] }> {
    const opened = await readyChannel();
    const accepted: Duplex[] = [];
    const onConnection = (connection: Duplex): void => void accepted.push(connection);
    const listener = await opened.channel.listen(0, 4, { kind: "connections", onConnection });
    expect((await opened.standIn.next("LISTEN")).fields).toEqual({ port: 0, family: 4, kind: 0 });
    opened.standIn.say("OPENED", 1, { port: 33_333 });
    expect(await listener.started).toEqual({ isBound: true, port: 33_333 });
    return { ...opened, listener, accepted };
  }

  it("hands each connection out, which outlives it", async () => {
    const { standIn, channel, listener, accepted } = await listening();
    standIn.say("ACCEPTED", 0x8000_0000, { listener: 1, port: 50_000 });
    standIn.say("ACCEPTED", 0x8000_0001, { listener: 1, port: 50_001 });
    await until(() => accepted.length === 2);
    const closed = listener.close();
    await standIn.next("CLOSE");
    standIn.end(1, { reason: 4 });
    await closed;
    standIn.output(0x8000_0001, "hello");
    standIn.say("OUTPUT_END", 0x8000_0001, { channel: 1 });
    expect(await text(accepted[1]!)).toBe("hello");
    accepted[1]!.end("and you");
    await until(() => standIn.input(0x8000_0001).toString() === "and you");
    expect(channel.isOver).toBe(false);
  });

  it("closes what is accepted while it is being closed", async () => {
    const { standIn, listener, accepted } = await listening();
    void listener.close();
    await standIn.next("CLOSE");
    standIn.say("ACCEPTED", 0x8000_0000, { listener: 1, port: 50_000 });
    expect((await standIn.next("CLOSE", 2)).stream).toBe(0x8000_0000);
    expect(accepted).toEqual([]);
  });

  it("tells that its port is taken", async () => {
    const { standIn, channel } = await readyChannel();
    const listener = await channel.listen(53, 4, { kind: "datagrams", onDatagram: () => undefined });
    standIn.end(1, { reason: 1, stage: 15, error: 98 });
    expect(await listener.started).toMatchObject({ isBound: false, end: { stage: "BIND", errno: 98 } });
    await listener.close();
  });

  it("passes datagrams on, gives them back, and sends", async () => {
    const { standIn, channel } = await readyChannel();
    const got: string[] = [];
    const onDatagram = (bytes: Uint8Array, port: number): void =>
      void got.push(`${port} ${Buffer.from(bytes).toString()}`);
    const listener = await channel.listen(53, 4, { kind: "datagrams", onDatagram });
    standIn.say("OPENED", 1, { port: 53 });
    for (let count = 0; count < 20; count += 1)
      standIn.say("DATAGRAM", 1, { port: count, tail: Buffer.alloc(4096, "q") });
    standIn.say("DATAGRAM", 1, { port: 99, tail: Buffer.alloc(0) });
    await until(() => got.length === 21);
    expect(got.at(-1)).toBe("99 ");
    listener.sendDatagram(Buffer.from("no"), 7);
    expect((await standIn.next("DATAGRAM")).fields).toEqual({ port: 7, tail: Buffer.from("no") });
    expect(() => listener.sendDatagram(Buffer.alloc(4097), 7)).toThrow(RangeError);
    expect(channel.isOver).toBe(false);
  });
});
