import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { openChannel, readyChannel, standInTerms } from "../../../../test/helpers/supervisor-stand-in.ts";
import { until } from "../../../../test/helpers/until.ts";
import { channelTimes } from "./channel.ts";
import type { ProgramRequest } from "./program.ts";

const request: ProgramRequest = {
  command: ["echo", "hello"],
  environment: { PATH: "/bin", HOME: "/tmp" },
  folder: "/work",
  user: 65_527,
  group: 65_527,
};
const strings = "/work\0echo\0hello\0PATH=/bin\0HOME=/tmp\0";

const noNumbers = {
  memoryBytes: 0n,
  memoryPeakBytes: 0n,
  memoryLimitBytes: 0n,
  memoryKills: 0n,
  cpuUs: 0n,
  diskReadBytes: 0n,
  diskWriteBytes: 0n,
  memoryCacheBytes: 0n,
  scratchBytes: 0n,
  processes: 0n,
  processLimit: 0n,
  monotonicUs: 0n,
};

/** Records of trees: stream, and what it has in memory in kB. */
function trees(...all: readonly (readonly [stream: number, residentKb: bigint])[]): Buffer {
  return Buffer.concat(
    all.map(([stream, residentKb]) => {
      const record = Buffer.alloc(24);
      record.writeUInt32LE(stream, 0);
      record.writeBigUInt64LE(residentKb, 16);
      return record;
    }),
  );
}

describe("SupervisorChannel", () => {
  it("says its terms first, and nothing else before it has judged", async () => {
    const { standIn, channel } = openChannel();
    const setup = await standIn.next("SETUP");
    expect(setup.fields).toMatchObject({
      version: 1,
      ownUser: 0xffff_ffff,
      streamWindow: 65_536,
      totalWindow: 16_777_216,
    });
    expect(setup.fields).toMatchObject({ probe1: 400, probeUser: 65_527, silenceMs: 60_000, firstTag: 0 });
    expect(Buffer.from(setup.fields.tail)).toEqual(standInTerms.filter);
    standIn.hello();
    expect(await channel.hello()).toMatchObject({ mode: "apart", cgroup: 2, processors: 2 });
    expect(standIn.frames).toHaveLength(1);
  });

  it("runs a program: strings, input, both outputs, its end and its tree's", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn(request);
    const { stream, fields } = await standIn.next("SPAWN");
    expect(fields).toMatchObject({
      user: 65_527,
      flags: 1,
      argumentCount: 2,
      variableCount: 2,
      stringsBytes: strings.length,
    });
    program.stdin.end("typed");
    await standIn.next("INPUT_END");
    expect(standIn.input(stream).toString()).toBe(`${strings}typed`);
    standIn.say("STARTED", stream, { pid: 12 });
    expect(await program.started).toEqual({ isStarted: true, pid: 12 });
    standIn.output(stream, "out");
    standIn.say("ERROR_OUTPUT", stream, { tail: Buffer.from("err") });
    standIn.exit(stream, 3);
    expect(await program.exit).toEqual({ code: 3, signal: 0, cpuTimeMs: 1.5, maxResidentBytes: 65_536 });
    standIn.end(stream, { first: 2000n, second: 1n });
    expect(await program.ended).toEqual({ cpuTimeMs: 2, maxResidentBytes: 1024 });
    const chunks = [];
    for await (const chunk of program.output) chunks.push([chunk.stream, Buffer.from(chunk.bytes).toString()]);
    expect(chunks).toEqual([
      ["stdout", "out"],
      ["stderr", "err"],
    ]);
    expect(channel.isOver).toBe(false);
  });

  it("tells why a program was never started", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn(request);
    standIn.end(1, { reason: 1, stage: 9, error: 2 });
    expect(await program.started).toMatchObject({
      isStarted: false,
      end: { reason: "FAILED", stage: "PROGRAM", errno: 2 },
    });
    await failureOf(program.exit, "SANDBOX_LOST");
    await program.ended;
    expect(channel.isOver).toBe(false);
  });

  it("releases a held program before its input, and after its strings", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn({ ...request, isHeld: true });
    program.stdin.write("later");
    await standIn.next("INPUT");
    await turn();
    expect(standIn.input(1).toString()).toBe(strings);
    program.release();
    await standIn.next("INPUT", 2);
    expect(standIn.frames.map(({ name }) => name)).toEqual(["SETUP", "SPAWN", "INPUT", "RELEASE", "INPUT"]);
  });

  it("signals, resizes, asks and ends the tree of a program", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn({ ...request, terminal: { rows: 24, columns: 80 } });
    standIn.say("STARTED", 1, { pid: 3 });
    program.resize({ rows: 30, columns: 100 });
    program.signal(2, "program");
    program.signal(15, "tree");
    const left = program.left();
    standIn.say("LEFT", 1, { count: 0, tail: Buffer.alloc(0) });
    expect(await left).toEqual({ count: 0, processes: [] });
    const ended = program.endTree(750);
    expect((await standIn.next("RESIZE")).fields).toEqual({ rows: 30, columns: 100 });
    expect(standIn.got("SIGNAL").map(({ fields }) => fields)).toEqual([
      { signal: 2, scope: 0 },
      { signal: 15, scope: 1 },
    ]);
    expect((await standIn.next("END_TREE")).fields).toEqual({ graceMs: 750 });
    standIn.exit(1, 0);
    standIn.end(1);
    await ended;
    // Of what has ended nothing more is said.
    program.signal(9, "tree");
    await program.endTree(0);
    expect(await program.left()).toEqual({ count: 0, processes: [] });
    await channel.ping();
    expect(standIn.got("SIGNAL")).toHaveLength(2);
    expect(standIn.got("END_TREE")).toHaveLength(1);
  });

  it("answers what is left with nothing when the tree ends meanwhile", async () => {
    const { standIn, channel } = await readyChannel();
    const program = await channel.spawn(request);
    standIn.say("STARTED", 1, { pid: 3 });
    const left = program.left();
    standIn.exit(1);
    standIn.end(1);
    expect(await left).toEqual({ count: 0, processes: [] });
  });

  it("ends the program that uses most, and no other", async () => {
    const { standIn, channel } = await readyChannel();
    for (const stream of [1, 2, 3]) {
      await channel.spawn(request);
      standIn.say("STARTED", stream, { pid: 10 + stream });
    }
    const ending = channel.endLargest();
    await standIn.next("NUMBERS");
    standIn.say("STATS", 0, { ...noNumbers, tail: trees([1, 500n], [2, 9_000n], [3, 700n]) });
    expect(await standIn.next("END_TREE")).toMatchObject({ stream: 2, fields: { graceMs: 0 } });
    standIn.exit(2);
    standIn.end(2);
    await ending;
    expect(standIn.frames.filter(({ name }) => name === "END_TREE")).toHaveLength(1);
  });

  it("ends nothing when no program runs, or the largest has ended meanwhile", async () => {
    const { standIn, channel } = await readyChannel();
    for (const tail of [Buffer.alloc(0), trees([7, 500n])]) {
      const ending = channel.endLargest();
      await standIn.next("NUMBERS");
      standIn.say("STATS", 0, { ...noNumbers, tail });
      await ending;
    }
    expect(standIn.frames.filter(({ name }) => name === "END_TREE")).toEqual([]);
  });

  it("asks for numbers, for what is left of all, and whether anybody is there", async () => {
    const { standIn, channel } = await readyChannel();
    const numbers = channel.numbers();
    await standIn.next("NUMBERS");
    standIn.say("STATS", 0, { ...noNumbers, memoryBytes: 5n, processes: 1n, processLimit: 2n, tail: Buffer.alloc(0) });
    expect(await numbers).toMatchObject({ memoryBytes: 5, processes: 1 });
    const left = [channel.left(), channel.left()];
    standIn.say("LEFT", 0, { count: 0, tail: Buffer.alloc(0) });
    expect(await left[0]).toMatchObject({ count: 0 });
    // Who asked after the question was sent is told what is found after that.
    await standIn.next("ASK_LEFT", 2);
    standIn.say("LEFT", 0, { count: 1, tail: Buffer.alloc(24) });
    expect(await left[1]).toMatchObject({ count: 1 });
    await channel.ping();
  });

  it("tells pushed numbers to the last listener, and to who has asked", async () => {
    const { standIn, channel } = await readyChannel();
    const told: (number | null)[] = [];
    channel.pushNumbers(() => expect.fail("another listener came"));
    channel.pushNumbers(({ processes }) => told.push(processes));
    expect((await standIn.next("NUMBERS")).fields).toEqual({ intervalMs: 1_000 });
    const say = (processes: bigint): void =>
      standIn.say("STATS", 0, { ...noNumbers, processes, tail: Buffer.alloc(0) });
    say(1n);
    await until(() => told.length === 1);
    const asked = channel.numbers();
    expect((await standIn.next("NUMBERS", 2)).fields).toEqual({ intervalMs: 0 });
    say(2n);
    expect(await asked).toMatchObject({ processes: 2 });
    // Its own answer to the question is still to come.
    say(3n);
    await until(() => told.length === 3);
    expect(told).toEqual([1, 2, 3]);
    await channel.ping();
  });

  it("takes pushed numbers without end, as long as its heart beats", async () => {
    const { standIn, channel } = await readyChannel({ times: { ...channelTimes, pingMs: 50 } });
    let told = 0;
    channel.pushNumbers(() => void (told += 1));
    for (let round = 1; round <= 3; round++) {
      // As after a pause of this process: what came meanwhile is taken.
      for (let count = 0; count < 90; count++) standIn.say("STATS", 0, { ...noNumbers, tail: Buffer.alloc(0) });
      await expect.poll(() => told).toBe(round * 90);
      await standIn.next("PING", standIn.got("PING").length + 1);
    }
    await channel.ping();
    expect(channel.isOver).toBe(false);
  });

  it("takes one answer for all that was asked before it", async () => {
    const { standIn, channel } = await readyChannel();
    standIn.answersPings = false;
    const pings = [channel.ping(), channel.ping(), channel.ping()];
    await standIn.next("PING", 3);
    standIn.say("PONG", 0, { nonce: 2n });
    await Promise.all(pings.slice(0, 2));
    standIn.say("PONG", 0, { nonce: 3n });
    await pings[2];
    standIn.say("PONG", 0, { nonce: 1n });
    expect(await channel.ended).toMatchObject({ reason: "nonsense" });
  });

  it.each([true, false])(
    "ends everything in order when it asks for it, and tells all who wait (said: %s)",
    async (says) => {
      const { standIn, channel, asked } = await readyChannel();
      const program = await channel.spawn(request);
      const file = await channel.file({
        ...{ verb: "READ" as const, folder: "/", path: "a", user: 1, group: 1 },
        ...{ deadlineMs: 1000, maxEntries: 0, maxBytes: 1n },
      });
      const connection = await channel.dial(80, 4, 1000);
      const ended = channel.endAll(0);
      expect((await standIn.next("END_TREE")).stream).toBe(0);
      if (says) standIn.say("TROUBLE", 0, { code: 0, tail: Buffer.from("as asked") });
      else standIn.side.end();
      await ended;
      expect(asked).toMatchObject([{ reason: "asked" }]);
      expect(await program.exit).toMatchObject({ signal: 9 });
      await program.ended;
      await expect(file.ended).rejects.toThrow("has been ended");
      expect(await connection.dialled).toEqual({ isOpen: false, end: null });
      await failureOf(channel.spawn(request), "SANDBOX_LOST");
    },
  );

  it("takes the end of the stream for a loss when nobody asked for it, and asks the engine before it tells", async () => {
    const { standIn, channel, asked } = await readyChannel();
    const program = await channel.spawn(request);
    const [pong, left, numbers] = [channel.ping(), channel.left(), channel.numbers()];
    standIn.answersPings = false;
    const failed = [program.started, program.exit, left, numbers].map((each) => failureOf(each, "SANDBOX_LOST"));
    await until(() => standIn.got("NUMBERS").length === 1);
    standIn.side.end();
    await Promise.all(failed);
    await pong.catch(() => undefined);
    expect(asked).toMatchObject([{ reason: "cut" }]);
    await program.ended;
    expect(await program.left()).toMatchObject({ count: 0 });
    const late = await failureOf(channel.dial(1, 4, 1), "SANDBOX_LOST");
    expect(late.message).toBe("The stand-in was lost.");
  });

  it("does not call a program gone when it is not certain", async () => {
    const { standIn, channel } = await readyChannel({ explain: () => Promise.reject(new Error("engine away")) });
    const program = await channel.spawn(request);
    standIn.side.end();
    const error = await failureOf(program.ended, "SANDBOX_LOST");
    expect(error.message).toMatch(/could not be asked/);
    await failureOf(channel.hello(), "SANDBOX_LOST").catch(() => undefined);
  });

  it("has at most 256 streams at once", async () => {
    const { standIn, channel } = await readyChannel();
    for (let count = 0; count < 256; count += 1) await channel.dial(80, 4, 1000);
    await failureOf(channel.dial(80, 4, 1000), "CAPACITY");
    standIn.end(5, { reason: 1, stage: 14, error: 111 });
    await until(() =>
      channel.dial(80, 4, 1000).then(
        () => true,
        () => false,
      ),
    );
    expect((await standIn.next("DIAL", 257)).stream).toBe(257);
  });

  it.each([
    ["no program", { command: [] }],
    ["a NUL in an argument", { command: ["a", "b\0c"] }],
    ["a NUL in a variable", { environment: { A: "\0" } }],
    ["a variable with = in its name", { environment: { "A=B": "" } }],
    ["a variable without a name", { environment: { "": "x" } }],
    ["a folder that is not absolute", { folder: "work" }],
    ["more than a program can be given", { command: ["a", "x".repeat(2_097_152)] }],
    ["too many arguments", { command: Array.from({ length: 65_536 }, () => "") }],
  ])("refuses %s before anything is said", async (_, instead) => {
    const { standIn, channel } = await readyChannel();
    await failureOf(channel.spawn({ ...request, ...instead }), "INVALID_REQUEST");
    await channel.ping();
    expect(standIn.got("SPAWN")).toEqual([]);
  });
});
