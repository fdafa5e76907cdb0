import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readyChannel, type SupervisorStandIn } from "../../../../test/helpers/supervisor-stand-in.ts";
import { until } from "../../../../test/helpers/until.ts";
import { frameLimits } from "../frames/frame-table.ts";
import type { Program, ProgramRequest } from "./program.ts";
import type { SupervisorChannel } from "./channel.ts";

const { inputTotalBytes, inputWindowBytes, maxStreams, sliceBytes } = frameLimits;
const request: ProgramRequest = { command: ["a"], environment: {}, folder: "/", user: 1, group: 1 };
const stringsBytes = "/\0a\0".length;
const window = 65_536;

type Started = Program & { readonly stream: number };

async function started(channel: SupervisorChannel, standIn: SupervisorStandIn): Promise<Started> {
  const count = standIn.got("SPAWN").length + 1;
  const program = await channel.spawn(request);
  const { stream } = await standIn.next("SPAWN", count);
  standIn.say("STARTED", stream, { pid: 1 });
  await program.started;
  return Object.assign(program, { stream });
}

/** Credit that the host has given on a stream. */
const given = (standIn: SupervisorStandIn, stream: number): number =>
  standIn.got("CREDIT").reduce((sum, frame) => sum + (frame.stream === stream ? frame.fields.bytes : 0), 0);

describe("output of the supervisor", () => {
  it("may fill a stream's window and not exceed it, however it is cut", async () => {
    for (const pieces of [[window], [1, window - 1], Array.from({ length: 64 }, () => 1024)]) {
      const { standIn, channel } = await readyChannel();
      const { stream } = await started(channel, standIn);
      for (const bytes of pieces.flatMap((each) => (each > 60_000 ? [each - 30_000, 30_000] : [each]))) {
        standIn.output(stream, Buffer.alloc(bytes));
      }
      await channel.ping();
      standIn.say("ERROR_OUTPUT", stream, { tail: Buffer.alloc(1) });
      expect(await channel.ended).toMatchObject({ reason: "nonsense", detail: "output beyond the stream's window" });
    }
  });

  it("may fill the total window and not exceed it", async () => {
    const windows = { streamBytes: 1000, totalBytes: 1500 };
    const { standIn, channel } = await readyChannel({ windows });
    const programs = [await started(channel, standIn), await started(channel, standIn)];
    standIn.output(programs[0]!.stream, Buffer.alloc(1000));
    standIn.output(programs[1]!.stream, Buffer.alloc(500));
    await channel.ping();
    standIn.output(programs[1]!.stream, "x");
    expect(await channel.ended).toMatchObject({ detail: "output beyond the total window" });
  });

  it("is given back as it is consumed, and not before", async () => {
    const { standIn, channel } = await readyChannel();
    const { stream, output } = await started(channel, standIn);
    for (let sent = 0; sent < window; sent += sliceBytes) standIn.output(stream, Buffer.alloc(sliceBytes));
    await channel.ping();
    expect(given(standIn, stream)).toBe(0);
    let read = 0;
    for await (const { bytes } of output) {
      read += bytes.length;
      if (read === window) break;
    }
    await channel.ping();
    expect(given(standIn, stream)).toBe(window);
    standIn.output(stream, Buffer.alloc(32_768));
    await channel.ping();
    expect(channel.isOver).toBe(false);
  });

  it("is given back at once when nobody wants it", async () => {
    const { standIn, channel } = await readyChannel();
    const { stream, output } = await started(channel, standIn);
    standIn.output(stream, Buffer.alloc(20_000));
    await channel.ping();
    await output[Symbol.asyncIterator]().return?.();
    for (let round = 0; round < 20; round += 1) {
      standIn.output(stream, Buffer.alloc(32_768));
      await channel.ping();
    }
    expect(given(standIn, stream)).toBeGreaterThan(20 * 32_768);
    expect(channel.isOver).toBe(false);
  });

  it("of a stream that has ended holds nobody up, and can still be read", async () => {
    const { standIn, channel } = await readyChannel({ windows: { streamBytes: 1000, totalBytes: 1000 } });
    for (let round = 0; round < 5; round += 1) {
      const program = await started(channel, standIn);
      standIn.output(program.stream, Buffer.alloc(1000, "a"));
      standIn.exit(program.stream);
      standIn.end(program.stream);
      await program.ended;
      await channel.ping();
      expect(given(standIn, program.stream)).toBe(1000);
      let text = "";
      for await (const { bytes } of program.output) text += Buffer.from(bytes).toString();
      expect(text).toBe("a".repeat(1000));
      await channel.ping();
      expect(given(standIn, program.stream)).toBe(1000);
    }
  });

  it("that is consumed little by little on many streams is given back before the total is used up", async () => {
    const windows = { streamBytes: 1000, totalBytes: 2000 };
    const { standIn, channel } = await readyChannel({ windows });
    const programs: Started[] = [];
    for (let count = 0; count < 10; count += 1) programs.push(await started(channel, standIn));
    // Each consumes less than the part of its window at which it would be given back.
    for (const { stream, output } of programs) {
      standIn.output(stream, Buffer.alloc(200));
      await output[Symbol.asyncIterator]().next();
    }
    await channel.ping();
    const open = programs.reduce((sum, { stream }) => sum + 200 - given(standIn, stream), 0);
    expect(open).toBeLessThanOrEqual(windows.totalBytes / 4);
  });

  it("of one program that nobody reads does not hold up another", async () => {
    const { standIn, channel } = await readyChannel();
    for (let count = 1; count < maxStreams; count += 1) {
      const { stream } = await started(channel, standIn);
      for (const bytes of [32_768, 32_768]) standIn.output(stream, Buffer.alloc(bytes));
    }
    const last = await started(channel, standIn);
    for (let round = 0; round < 10; round += 1) {
      standIn.output(last.stream, "x");
      expect((await last.output[Symbol.asyncIterator]().next()).done).toBe(false);
    }
    expect(channel.isOver).toBe(false);
  });
});

describe("input of the host", () => {
  it("waits for the supervisor's credit, and goes on with it, in slices", async () => {
    const { standIn, channel } = await readyChannel();
    const { stream, stdin } = await started(channel, standIn);
    const text = Buffer.alloc(200_000, "0123456789");
    let isTaken = false;
    stdin.write(text, () => (isTaken = true));
    await until(() => standIn.input(stream).length === inputWindowBytes);
    await channel.ping();
    expect(standIn.input(stream)).toHaveLength(inputWindowBytes);
    for (let back: number = inputWindowBytes; standIn.input(stream).length < text.length + stringsBytes;) {
      expect(isTaken).toBe(false);
      standIn.say("CREDIT", stream, { bytes: back });
      const before = standIn.input(stream).length;
      back = Math.min(back, text.length + stringsBytes - before);
      await until(() => standIn.input(stream).length === before + back);
    }
    await until(() => isTaken);
    expect(standIn.input(stream).subarray(stringsBytes).equals(text)).toBe(true);
    expect(Math.max(...standIn.got("INPUT").map(({ fields }) => fields.tail.length))).toBeLessThanOrEqual(sliceBytes);
  });

  it("of programs that read nothing does not keep others from being started, nor from reading", async () => {
    const { standIn, channel } = await readyChannel();
    for (let count = 0; count < 200; count += 1) {
      const { stdin } = await started(channel, standIn);
      stdin.write(Buffer.alloc(inputWindowBytes));
    }
    await channel.ping();
    const sent = (): number => standIn.got("INPUT").reduce((sum, { fields }) => sum + fields.tail.length, 0);
    expect(sent()).toBeLessThanOrEqual(inputTotalBytes);
    const long = "x".repeat(5_000);
    const program = await channel.spawn({ ...request, command: ["a", long] });
    const { stream } = await standIn.next("SPAWN", 201);
    for (let returned = 0; standIn.input(stream).length < stringsBytes + long.length + 1;) {
      await until(() => standIn.input(stream).length > returned);
      const bytes = standIn.input(stream).length - returned;
      returned += bytes;
      standIn.say("CREDIT", stream, { bytes });
      await channel.ping();
    }
    standIn.say("STARTED", stream, { pid: 1 });
    await program.started;
    program.stdin.end("typed");
    await standIn.next("INPUT_END");
    expect(standIn.input(stream).toString().endsWith("typed")).toBe(true);
  });

  it("takes turns", async () => {
    const { standIn, channel } = await readyChannel();
    const programs: Started[] = [];
    for (let count = 0; count < 3; count += 1) programs.push(await started(channel, standIn));
    const before = standIn.got("INPUT").length;
    for (const { stdin } of programs) stdin.write(Buffer.alloc(3 * sliceBytes));
    await until(() => programs.every(({ stream }) => standIn.input(stream).length >= 2 * sliceBytes));
    for (const { stream } of programs) standIn.say("CREDIT", stream, { bytes: stringsBytes + 2 * sliceBytes });
    await until(() => programs.every(({ stream }) => standIn.input(stream).length === 3 * sliceBytes + stringsBytes));
    const order = standIn.got("INPUT").slice(before);
    for (const { fields } of order) expect(fields.tail.length).toBeLessThanOrEqual(sliceBytes);
  });

  it("of a stream that has ended is thrown away, and its credit is there for others", async () => {
    const { standIn, channel } = await readyChannel();
    const programs: Started[] = [];
    for (let count = 0; count < 10; count += 1) programs.push(await started(channel, standIn));
    const done: number[] = [];
    for (const { stdin, stream } of programs) {
      stdin.write(Buffer.alloc(100_000), () => done.push(stream));
      stdin.end();
    }
    await channel.ping();
    for (const { stream } of programs) {
      standIn.exit(stream);
      standIn.end(stream);
    }
    await Promise.all(programs.map(({ ended }) => ended));
    await until(() => done.length === programs.length);
    const { stream, stdin } = await started(channel, standIn);
    stdin.write(Buffer.alloc(inputWindowBytes));
    await until(() => standIn.input(stream).length === inputWindowBytes);
    expect(standIn.got("INPUT_END")).toEqual([]);
  });

  it("does not hold up signals and pings", async () => {
    const { standIn, channel } = await readyChannel();
    const programs: Started[] = [];
    for (let count = 0; count < 6; count += 1) programs.push(await started(channel, standIn));
    for (const { stdin } of programs) stdin.write(Buffer.alloc(inputWindowBytes));
    await channel.ping();
    programs[5]!.signal(15, "tree");
    programs[5]!.endTree(0).catch(() => undefined);
    expect((await standIn.next("SIGNAL")).fields.signal).toBe(15);
    await standIn.next("END_TREE");
    await channel.ping();
  });
});

describe("a supervisor that reads nothing", () => {
  it("ends the sandbox before this end has stored much for it", async () => {
    const { standIn, channel } = await readyChannel();
    const listener = await channel.listen(53, 4, { kind: "datagrams", onDatagram: () => undefined });
    standIn.say("OPENED", 1, { port: 53 });
    await listener.started;
    standIn.side.pause();
    for (let count = 0; !channel.isOver && count < 10_000; count += 1) listener.sendDatagram(Buffer.alloc(4096), 1);
    expect(await channel.ended).toMatchObject({ reason: "stuck" });
    await turn();
    expect(standIn.transport.writableLength).toBeLessThan(4_300_000);
  });
});
