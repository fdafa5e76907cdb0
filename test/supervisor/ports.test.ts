import { spawnSync } from "node:child_process";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { limits, numbers } from "../helpers/supervisor/frames.ts";
import { firstProcess } from "../helpers/supervisor/host-view.ts";
import { sendInput } from "../helpers/supervisor/operations.ts";
import { flags, Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";

describe.skipIf(reason !== undefined)(`ports ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(() => void sanitizedSupervisor(), 180_000);
  const start = (manualCredit: boolean, setup = {}, capabilities: readonly string[] = []): Promise<Supervised> =>
    Supervised.start({
      ...{ binary: sanitizedSupervisor(), manualCredit, setup, mounts: ["--ro-bind", hostileProgram(), hostile] },
      capabilities,
    });
  beforeEach(async () => {
    subject = await start(false);
  });
  afterEach(async () => subject[Symbol.asyncDispose]());

  const serves = async (how: string, port: number): Promise<number> => {
    const stream = subject.spawn({ command: [hostile, "serves", how, String(port)] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    return stream;
  };
  const dial = (port: number, family = 4): number => subject.begin("DIAL", { port, family, deadlineMs: 5000 });
  const listen = async (kind: 0 | 1, port = 0, family = 4): Promise<readonly [stream: number, port: number]> => {
    const stream = subject.begin("LISTEN", { port, family, kind });
    return [stream, (await subject.got(stream, "OPENED")).fields["port"]!];
  };
  /** The connection that a listener handed out last. */
  const accepted = async (listener: number): Promise<number> => {
    const find = (): number | undefined =>
      [...subject.streams].findLast(([, { frames }]) => frames[0]?.fields["listener"] === listener)?.[0];
    await subject.until("ACCEPTED", () => find() !== undefined);
    return find()!;
  };

  it("are dialled, and both directions end on their own", async () => {
    await serves("echoes", 7001);
    const stream = dial(7001);
    expect((await subject.got(stream, "OPENED")).fields["port"]).toBeGreaterThan(1023);
    await sendInput(subject, stream, Buffer.alloc(300_000, "echo"));
    subject.frame("INPUT_END", stream);
    const { stdout, end, frames } = await subject.ended(stream);
    expect(stdout.equals(Buffer.alloc(300_000, "echo"))).toBe(true);
    expect(end.fields).toMatchObject({ reason: numbers["END_DONE"], error: 0 });
    expect(frames.filter(({ name }) => name === "OUTPUT_END")).toHaveLength(1);
  });

  it.each([4, 6])("where nobody listens are refused, by family %d", async (family) => {
    const { end } = await subject.ended(dial(7002, family));
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], stage: numbers["STAGE_CONNECT"], error: 111 });
  });

  it("at an address are dialled there", async () => {
    await serves("echoes", 7001);
    const at = (address: readonly number[], family: number): number =>
      subject.begin("DIAL", { port: 7001, family, deadlineMs: 5000 }, Buffer.from(address));
    await subject.got(at([127, 0, 0, 1], 4), "OPENED");
    // The server listens at one address.
    expect((await subject.ended(at([127, 0, 0, 9], 4))).end.fields).toMatchObject({ error: 111 });
    // There is no way out of this sandbox.
    expect((await subject.ended(at([192, 0, 2, 1], 4))).end.fields).toMatchObject({ error: 101 });
    const documented = [0x20, 1, 0x0d, 0xb8, ...Array.from({ length: 12 }, () => 1)];
    expect((await subject.ended(at(documented, 6))).end.fields).toMatchObject({ reason: numbers["END_FAILED"] });
  });

  it("that take nobody in run into the deadline", async () => {
    // A server that accepts nothing: its backlog is full after some connections.
    const stopped = await serves("deaf", 7003);
    subject.frame("SIGNAL", stopped, { signal: 19, scope: 1 });
    const streams = Array.from({ length: 8 }, () => subject.begin("DIAL", { port: 7003, family: 4, deadlineMs: 300 }));
    await subject.until("an end", () => streams.some((stream) => subject.has(stream, "ENDED")));
    const ends = streams.flatMap((stream) => subject.has(stream, "ENDED")?.fields["reason"] ?? []);
    expect(new Set(ends)).toEqual(new Set([numbers["END_DEADLINE"]]));
  });

  it.each([false, true])("that break off have no clean end (without credit: %s)", async (manualCredit) => {
    await subject[Symbol.asyncDispose]();
    subject = await start(manualCredit);
    await serves("breaks", 7004);
    const stream = dial(7004);
    await subject.got(stream, "OPENED");
    subject.frame("INPUT", stream, {}, Buffer.from("a"));
    await subject.until("begun", () => subject.record(stream).stdout.includes("begun"));
    subject.frame("INPUT", stream, {}, Buffer.from("b"));
    const { end, frames } = await subject.ended(stream);
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], error: 104 });
    expect(frames.map(({ name }) => name)).not.toContain("OUTPUT_END");
  });

  it("that never read hold up nothing but their own window, and are closed", async () => {
    await serves("deaf", 7005);
    const deaf = dial(7005);
    await subject.got(deaf, "OPENED");
    // What the kernel's own buffers take comes back as credit; then no more.
    let before = -1;
    for (let still = 0; still < 3;) {
      const record = subject.record(deaf);
      const part = Math.min(record.window, 60_000);
      if (part > 0) subject.frame("INPUT", deaf, {}, Buffer.alloc(part));
      record.window -= part;
      await subject.ping();
      still = part === 0 && before === 0 ? still + 1 : 0;
      before = part;
    }
    expect((await subject.run({ command: ["echo", "others"] })).stdout).toBe("others\n");
    subject.frame("CLOSE", deaf);
    expect((await subject.ended(deaf)).end.fields["reason"]).toBe(numbers["END_CLOSED"]);
  });

  it("are listened on: each connection is a stream of its own, and outlives the listener", async () => {
    const [listener, port] = await listen(0);
    const taken = subject.begin("LISTEN", { port, family: 4, kind: 0 });
    expect((await subject.ended(taken)).end.fields).toMatchObject({ stage: numbers["STAGE_BIND"], error: 98 });
    const asker = subject.spawn({ command: [hostile, "asks", String(port), "question"] });
    const connection = await accepted(listener);
    expect(connection).toBeGreaterThanOrEqual(limits["firstOwnStream"]!);
    await subject.until("question", () => subject.record(connection).stdout.includes("question"));
    subject.frame("CLOSE", listener);
    expect((await subject.ended(listener)).end.fields["reason"]).toBe(numbers["END_CLOSED"]);
    subject.frame("INPUT", connection, {}, Buffer.from("answer"));
    subject.frame("INPUT_END", connection);
    expect((await subject.ended(asker)).stdout.toString()).toBe("answer");
    expect((await subject.ended(connection)).end.fields["reason"]).toBe(numbers["END_DONE"]);
    const refused = await subject.run({ command: [hostile, "asks", String(port), "again"] });
    expect(refused.stderr).toContain("refused");
  });

  it("are free again at once when a listener is closed, and what is broken off is seen to be", async () => {
    const [listener, port] = await listen(0);
    const asker = subject.spawn({ command: [hostile, "asks", String(port), "question"] });
    const connection = await accepted(listener);
    subject.frame("INPUT", connection, {}, Buffer.from("half"));
    await subject.until("half", () => subject.record(asker).stdout.includes("half"));
    // In one piece: nothing else is done between the two.
    subject.frame("CLOSE", listener);
    const next = subject.begin("LISTEN", { port, family: 4, kind: 0 });
    await subject.got(next, "OPENED");
    subject.frame("CLOSE", connection);
    expect((await subject.ended(asker)).stderr.toString()).toContain("broken off");
  });

  it("take no more than a quarter of the streams, however many connections programs make", async () => {
    const [listener, port] = await listen(0);
    const crowd = subject.spawn({ command: [hostile, "crowds", String(port), "100"] });
    await subject.until("ready", () => subject.record(crowd).stdout.includes("ready"));
    const all = (): readonly number[] =>
      [...subject.streams].filter(([, { frames }]) => frames[0]?.fields["listener"] === listener).map(([one]) => one);
    await subject.until("connections", () => all().length === limits["maxAccepted"]);
    await subject.ping();
    expect(all()).toHaveLength(limits["maxAccepted"]!);
    expect((await subject.run({ command: ["echo", "others"] })).stdout).toBe("others\n");
    subject.frame("CLOSE", all()[0]!);
    await subject.until("another", () => all().length === limits["maxAccepted"]! + 1);
  });

  it("pass datagrams on, and lose those for which there is no room or no credit", async () => {
    const [stream, port] = await listen(1);
    const asker = subject.spawn({ command: [hostile, "asks-once", String(port), "name?"] });
    const asked = await subject.got(stream, "DATAGRAM");
    expect(asked.tail.toString()).toBe("name?");
    subject.frame("DATAGRAM", stream, { port: asked.fields["port"]! }, Buffer.from("none"));
    expect((await subject.ended(asker)).stdout.toString()).toBe("none");
    for (const length of [0, 4096, 4097, 60_000]) {
      await subject.run({ command: [hostile, "rains", String(port), String(length), "1"] });
    }
    await subject.ping();
    const got = subject.record(stream).frames.flatMap(({ name, tail }) => (name === "DATAGRAM" ? [tail.length] : []));
    expect(got).toEqual([5, 0, 4096]);
  });

  it("that rain datagrams never exceed the window, the port's two bytes counted", async () => {
    await subject[Symbol.asyncDispose]();
    subject = await start(true, { streamWindow: 4096 });
    const [stream, port] = await listen(1);
    await subject.run({ command: [hostile, "rains", String(port), "62", "200"] });
    const sent = (): number => subject.record(stream).frames.filter(({ name }) => name === "DATAGRAM").length;
    await subject.until("the window is full", () => sent() >= 64);
    await subject.ping();
    expect(sent()).toBe(64);
    subject.frame("CREDIT", stream, { bytes: 4096 });
    await subject.ping();
  });

  describe("of a resolver that knows no name", () => {
    /** Its port needs a right that pid 1 is given for its start. */
    const restart = async (manualCredit = false, setup = {}): Promise<void> => {
      await subject[Symbol.asyncDispose]();
      subject = await start(manualCredit, setup, ["NET_BIND_SERVICE"]);
    };
    const hear = async (): Promise<number> => {
      const stream = subject.begin("LISTEN", { port: 0, family: 4, kind: 2 });
      expect((await subject.got(stream, "OPENED")).fields["port"]).toBe(53);
      return stream;
    };
    const told = (stream: number): readonly string[] =>
      subject
        .record(stream)
        .frames.flatMap(({ name, tail }) => (name === "DATAGRAM" ? [tail.subarray(12).toString("latin1")] : []));
    const lookUp = async (name: string, count = 1): Promise<string> =>
      (await subject.run({ command: [hostile, "looks-up", name, String(count)] })).stdout;

    it("refuse at once, whether anybody listens or not, and tell the question before the program ends", async () => {
      await restart();
      expect(await lookUp("before.test")).toBe("1 3 same\n");
      const [one, other] = [await hear(), await hear()];
      expect(await lookUp("a.test")).toBe("1 3 same\n");
      const question = "\u0001a\u0004test\0\0\u0001\0\u0001";
      expect([told(one), told(other)]).toEqual([[question], [question]]);
      subject.frame("CLOSE", one);
      expect((await subject.ended(one)).end.fields["reason"]).toBe(numbers["END_CLOSED"]);
      expect(await lookUp("after.test")).toBe("1 3 same\n");
      expect([told(one).length, told(other).length]).toEqual([1, 2]);
    });

    it("tell of the first questions alone, and answer all of them", async () => {
      await restart();
      const stream = await hear();
      expect(await lookUp("flood.test", 2_000)).toBe("1 3 same\n");
      await subject.ping();
      expect(told(stream)).toHaveLength(limits["maxQuestions"]!);
    });

    it("tell no more than the window takes", async () => {
      await restart(true, { streamWindow: 100 });
      const stream = await hear();
      expect(await lookUp("flood.test", 50)).toBe("1 3 same\n");
      await subject.ping();
      // A header, a name of 12 bytes with its type and class, and the port: 30 bytes each.
      expect(told(stream)).toHaveLength(3);
    });

    it("neither tell nor answer what is no question: too short, too long, or an answer", async () => {
      await restart();
      const stream = await hear();
      for (const length of [0, 11, 513, 4096]) {
        await subject.run({ command: [hostile, "rains", "53", String(length), "1"] });
      }
      const answer = "\\x07\\x07\\x84\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x01";
      await subject.run({ command: ["bash", "-c", `printf '${answer}' >/dev/udp/127.0.0.1/53`] });
      expect(await lookUp("a.test")).toBe("1 3 same\n");
      expect(told(stream)).toHaveLength(1);
    });

    it("give way to a program that takes the port as servers do, and nothing breaks", async () => {
      await restart();
      const stream = await hear();
      // As engines allow it that make no difference between ports.
      const network = `--net=/proc/${firstProcess(subject)}/ns/net`;
      const anyPort = "echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start";
      expect(spawnSync("nsenter", [network, "sh", "-c", anyPort]).status).toBe(0);
      const server = subject.spawn({ command: [hostile, "takes-over"] });
      await subject.until("ready", () => subject.record(server).stdout.includes("ready"));
      await subject.run({ command: [hostile, "rains", "53", "20", "1"] });
      expect((await subject.ended(server)).stdout.toString()).toBe("ready\nmine\n");
      expect(told(stream)).toEqual([]);
      expect(await lookUp("a.test")).toBe("1 3 same\n");
    });

    it("are not there without the right to the port, which nobody has after the start", async () => {
      const stream = subject.begin("LISTEN", { port: 0, family: 4, kind: 2 });
      expect((await subject.ended(stream)).end.fields).toMatchObject({ stage: numbers["STAGE_BIND"], error: 13 });
      await restart();
      expect(subject.hello.fields["capabilities"]).toBe(0xe0);
      const taken = subject.begin("LISTEN", { port: 54, family: 4, kind: 1 });
      expect((await subject.ended(taken)).end.fields).toMatchObject({ stage: numbers["STAGE_BIND"], error: 13 });
    });
  });

  it("wait in the backlog while all streams are taken, and a stream too many is refused", async () => {
    const [listener, port] = await listen(0);
    const held = Array.from({ length: limits["maxStreams"]! - 2 }, () =>
      subject.begin("LISTEN", { port: 0, family: 4, kind: 0 }),
    );
    const asker = subject.spawn({ command: [hostile, "asks", String(port), "late"], flags: flags.input });
    await subject.got(asker, "STARTED");
    const { end } = await subject.ended(dial(port));
    expect(end.fields).toMatchObject({ reason: numbers["END_REFUSED"], stage: numbers["STAGE_STREAMS"] });
    subject.frame("CLOSE", held[3]!);
    const connection = await accepted(listener);
    await subject.until("late", () => subject.record(connection).stdout.includes("late"));
    subject.frame("CLOSE", connection);
    await subject.ended(asker);
  });
});
