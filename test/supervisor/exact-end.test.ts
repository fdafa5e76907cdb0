import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { flags, Supervised, type SupervisedOptions } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";
const start = (apart: boolean, more: Partial<SupervisedOptions> = {}): Promise<Supervised> =>
  Supervised.start({
    ...{ binary: sanitizedSupervisor(), apart, mounts: ["--ro-bind", hostileProgram(), hostile], ...more },
  });

describe.skipIf(reason !== undefined).each([
  ["told by its warden", {}],
  ["told by a group of its own", { lacks: ["no-subreaper"], setup: { firstTag: 200_000, tagCount: 256 } }],
] as const)(`the end of a tree %s ${reason ?? ""}`, (_, options) => {
  let subject: Supervised;

  beforeEach(async () => {
    subject = await start(true, options);
  }, 180_000);
  afterEach(async () => subject[Symbol.asyncDispose]());

  /** A program that answers each line: it must go on while others end. */
  const neighbour = async (): Promise<number> => {
    const stream = subject.spawn({
      command: ["sh", "-c", "sleep 1000 & while read line; do echo $line; done; kill $!"],
      flags: flags.input,
    });
    await subject.got(stream, "STARTED");
    return stream;
  };
  const expectUnharmed = async (stream: number): Promise<void> => {
    subject.frame("INPUT", stream, {}, Buffer.from("well\n"));
    await subject.until("answer", () => subject.record(stream).stdout.includes("well"));
    subject.frame("ASK_LEFT", stream);
    expect((await subject.got(stream, "LEFT")).fields["count"]).toBe(1);
    subject.frame("INPUT_END", stream);
    expect((await subject.ended(stream)).exit?.fields).toMatchObject({ code: 0, signal: 0 });
  };
  const left = async (): Promise<number> => {
    const before = subject.zero.length;
    subject.frame("ASK_LEFT", 0);
    await subject.until("LEFT", () => subject.zero.slice(before).some(({ name }) => name === "LEFT"));
    return subject.zero.slice(before).find(({ name }) => name === "LEFT")!.fields["count"]!;
  };

  it.each([
    ["a daemon that ignores SIGTERM", [hostile, "daemon"]],
    ["a first thread that has ended", [hostile, "dead-thread"]],
    ["a daemon whose first thread has ended", [hostile, "dead-thread-daemon"]],
    ["a name that looks like another line of /proc", [hostile, "forged-name"]],
    ["a new process at every moment", [hostile, "comet"]],
    ["a daemon that is another process at every moment", [hostile, "comet-daemon"]],
    [
      "many sessions below many shells",
      ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 1000 & sleep 1000' & done; echo ready; wait"],
    ],
  ])("comes with %s, and hits nothing else", async (_, command) => {
    const other = await neighbour();
    const stream = subject.spawn({ command });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 100 });
    const { end } = await subject.ended(stream);
    expect(end.fields).toMatchObject({ reason: numbers["END_DONE"], error: 0 });
    await expectUnharmed(other);
    expect(await left()).toBe(0);
  });

  it("comes although a neighbour of the same user wakes everything again and again", async () => {
    const neighbours = [1, 2].map(() => subject.spawn({ command: [hostile, "wakes"] }));
    const stream = subject.spawn({ command: ["sh", "-c", `${hostile} daemon; ${hostile} comet-daemon; sleep 1000`] });
    await subject.until("ready", () => subject.record(stream).stdout.toString().split("ready").length === 3);
    subject.frame("END_TREE", stream, { graceMs: 0 });
    expect((await subject.ended(stream)).end.fields).toMatchObject({ reason: numbers["END_DONE"] });
    for (const each of neighbours) {
      subject.frame("END_TREE", each, { graceMs: 0 });
      await subject.ended(each);
    }
    expect(await left()).toBe(0);
  });

  it("comes, and begins before it, although a neighbour of the same user stops everything again and again", async () => {
    const neighbour = subject.spawn({ command: [hostile, "stops"] });
    await subject.until("ready", () => subject.record(neighbour).stdout.includes("ready"));
    const streams = Array.from({ length: 12 }, (_, at) =>
      subject.spawn({ command: ["sleep", "1000"], flags: at % 2 === 0 ? 0 : flags.held }),
    );
    for (const stream of streams) await subject.got(stream, "STARTED");
    for (const [at, stream] of streams.entries()) if (at % 2 === 1) subject.frame("RELEASE", stream);
    for (const stream of [...streams, neighbour]) {
      subject.frame("END_TREE", stream, { graceMs: 0 });
      expect((await subject.ended(stream)).end.fields).toMatchObject({ reason: numbers["END_DONE"] });
    }
    expect(await left()).toBe(0);
  });

  it.each([0, flags.terminal])("comes although a neighbour writes into its output for ever (flags %d)", async (how) => {
    await subject[Symbol.asyncDispose]();
    const setup = { ...("setup" in options ? options.setup : {}), streamWindow: 16_384 };
    subject = await start(true, { ...options, setup, manualCredit: true });
    const stream = subject.spawn({ command: ["sh", "-c", "echo $$; read line"], flags: flags.input | how });
    await subject.until("its number", () => subject.record(stream).stdout.includes("\n"));
    const path = `/proc/${Number(subject.record(stream).stdout.toString())}/fd/1`;
    const neighbour = subject.spawn({ command: [hostile, "intrudes", path] });
    await subject.until("the neighbour's words", () => subject.record(stream).stdout.length === 16_384);
    subject.frame("INPUT", stream, {}, Buffer.from("go on\n"));
    await subject.got(stream, "EXIT");
    // Whatever the host takes, the neighbour has put back when it takes the next: only what stood there counts.
    let taken = 0;
    for (let round = 0; round < 20 && subject.has(stream, "ENDED") === undefined; round++) {
      const bytes = subject.record(stream).stdout.length - taken;
      taken += bytes;
      if (bytes > 0) subject.frame("CREDIT", stream, { bytes });
      await new Promise((resolve) => setTimeout(resolve, 50));
      await subject.ping();
    }
    expect(subject.has(stream, "ENDED")?.fields).toMatchObject({ reason: numbers["END_DONE"] });
    expect(subject.has(neighbour, "EXIT")).toBeUndefined();
  });

  it("comes to many processes that make many more", async () => {
    const stream = subject.spawn({ command: [hostile, "bomb"] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 0 });
    expect((await subject.ended(stream)).end.fields).toMatchObject({ reason: numbers["END_DONE"] });
    expect(await left()).toBe(0);
  });

  it.each(["daemon", "dead-thread-daemon"])(
    "comes after the program itself has ended, and leaves a %s alone until then",
    async (how) => {
      const stream = subject.spawn({ command: [hostile, how] });
      expect((await subject.got(stream, "EXIT")).fields).toMatchObject({ code: 0 });
      await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
      subject.frame("ASK_LEFT", stream);
      expect((await subject.got(stream, "LEFT")).fields["count"]).toBe(1);
      expect(subject.has(stream, "ENDED")).toBeUndefined();
      subject.frame("END_TREE", stream, { graceMs: 50 });
      await subject.ended(stream);
    },
  );

  it("leaves the program the grace to end in its own way", async () => {
    const stream = subject.spawn({
      command: ["sh", "-c", "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done"],
    });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 20_000 });
    const { stdout, exit } = await subject.ended(stream);
    expect([stdout.toString(), exit?.fields["code"]]).toEqual(["ready\nbye\n", 3]);
  });

  it("a second order with less grace shortens the first", async () => {
    const stream = subject.spawn({ command: [hostile, "daemon"] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 60_000 });
    subject.frame("END_TREE", stream, { graceMs: 10 });
    expect((await subject.ended(stream)).end.fields["reason"]).toBe(numbers["END_DONE"]);
  });

  it("of all trees ends the supervisor with code 0", async () => {
    subject.spawn({ command: [hostile, "daemon"] });
    subject.spawn({ command: ["sleep", "1000"] });
    await neighbour();
    subject.frame("END_TREE", 0, { graceMs: 50 });
    expect(await subject.exited()).toBe(numbers["CODE_ASKED"]);
  });
});

describe.skipIf(reason !== undefined)(`where programs have the user of pid 1 ${reason ?? ""}`, () => {
  let subject: Supervised;

  beforeEach(async () => {
    subject = await start(false);
  }, 180_000);
  afterEach(async () => subject[Symbol.asyncDispose]());

  it("HELLO says so", () => {
    expect(subject.hello.fields).toMatchObject({ mode: 2, capabilities: 0, probeCapabilities: 0 });
  });

  it.each([
    ["stopped", 19],
    ["killed", 9],
  ])("a program whose warden was %s is lost, never done, and its tree ends", async (_, signal) => {
    const held = subject.spawn({ command: ["sleep", "1000"], flags: flags.held });
    const running = subject.spawn({ command: ["sh", "-c", "setsid sleep 1000 & sleep 1000"] });
    await Promise.all([held, running].map((stream) => subject.got(stream, "STARTED")));
    const striker = subject.spawn({ command: [hostile, "strikes", String(signal)] });
    const ends = await Promise.all([held, running, striker].map((stream) => subject.ended(stream)));
    expect(ends.map(({ end }) => end.fields["reason"])).toEqual(Array.from({ length: 3 }, () => numbers["END_LOST"]));
    const { stdout } = await subject.run({ command: ["sh", "-c", "ls /proc | grep -c '^[0-9]'"] });
    // Pid 1, the waiting helper, the warden, sh, ls, grep.
    expect(Number(stdout)).toBeLessThanOrEqual(6);
  });

  it("a program of another user is refused", async () => {
    const { end } = await subject.ended(subject.spawn({ command: ["true"], user: 1 }));
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], stage: numbers["STAGE_USER"] });
  });

  it("its frames cannot be read or forged by a program", async () => {
    const { stdout } = await subject.run({
      command: ["sh", "-c", "cat /proc/1/fd/0; echo x > /proc/1/fd/1; cat /proc/1/environ; true"],
    });
    expect(stdout).toBe("");
    await subject.ping();
  });
});
