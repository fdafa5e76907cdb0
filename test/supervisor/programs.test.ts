import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { descriptorsOf, firstProcess } from "../helpers/supervisor/host-view.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { flags, programUser, Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();

describe.skipIf(reason !== undefined)(`a supervised program ${reason ?? ""}`, () => {
  let it1: Supervised;
  let binary: string;
  const hostile = "/tmp/hostile";

  beforeAll(async () => {
    binary = sanitizedSupervisor();
    it1 = await Supervised.start({ binary, mounts: ["--ro-bind", hostileProgram(), hostile] });
  }, 180_000);
  afterAll(async () => it1[Symbol.asyncDispose]());

  it("says who it is, and that its child was refused what the filter refuses", () => {
    const { fields } = it1.hello;
    expect(fields).toMatchObject({ version: 1, mode: 1, user: 0, capabilities: 0xe0, probeCapabilities: 0 });
    expect(fields["facts"]! & numbers["FACT_SUBREAPER"]!).not.toBe(0);
  });

  it("runs as its user without capabilities, in its folder, with its variables and three descriptors", async () => {
    const script =
      "id -u; id -g; pwd; echo $A; ls /proc/self/fd | wc -l; grep -E 'Cap(Prm|Eff|Inh|Amb|Bnd)|NoNewPrivs|SigBlk|SigIgn' /proc/self/status";
    const { stdout, code } = await it1.run({
      command: ["sh", "-c", script],
      folder: "/usr",
      variables: ["PATH=/usr/bin:/bin", "A=one two"],
    });
    const none = "0000000000000000";
    const lines = stdout.split("\n");
    expect(lines.slice(0, 5)).toEqual([String(programUser), String(programUser), "/usr", "one two", "4"]);
    const status = Object.fromEntries(lines.slice(5, -1).map((line) => line.split(/:\s+/)));
    expect(status).toEqual({
      ...{
        SigBlk: none,
        SigIgn: none,
        CapInh: none,
        CapPrm: none,
        CapEff: none,
        CapAmb: none,
        CapBnd: none,
        NoNewPrivs: "1",
      },
    });
    expect(code).toBe(0);
  });

  it("keeps output and errors apart, in order, and says how it ended and what it took", async () => {
    const { stdout, stderr, code, end } = await it1.run({
      command: ["sh", "-c", "echo one; echo bad >&2; echo two >/dev/stdout; echo worse >/dev/stderr; exit 7"],
    });
    expect({ stdout, stderr, code }).toEqual({ stdout: "one\ntwo\n", stderr: "bad\nworse\n", code: 7 });
    expect(end.fields).toMatchObject({ reason: numbers["END_DONE"], stage: 0, error: 0 });
    expect(end.fields["second"]).toBeGreaterThan(500);
  });

  it("says which signal ended it", async () => {
    expect(await it1.run({ command: ["sh", "-c", "kill -USR1 $$"] })).toMatchObject({ code: 0, signal: 10 });
  });

  it.each([
    [{ command: ["no-such-program"] }, "STAGE_PROGRAM", 2],
    [{ command: ["/etc/passwd"] }, "STAGE_PROGRAM", 13],
    [{ command: ["true"], folder: "/no/such" }, "STAGE_FOLDER", 2],
    [{ command: ["true"], user: 0 }, "STAGE_USER", 1],
    [{ command: [""] }, "STAGE_PROGRAM", 2],
  ])("%j ends before it begins", async (options, stage, error) => {
    const { end } = await it1.ended(it1.spawn(options));
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], stage: numbers[stage], error });
  });

  it("takes input to its end, or none", async () => {
    const cat = it1.spawn({ command: ["cat"], flags: flags.input });
    it1.frame("INPUT", cat, {}, Buffer.from("hello\n"));
    it1.frame("INPUT_END", cat);
    expect((await it1.ended(cat)).stdout.toString()).toBe("hello\n");
    expect(await it1.run({ command: ["cat"] })).toMatchObject({ stdout: "", code: 0 });
  });

  it("waits held until it is released, and is ended before that too", async () => {
    const held = it1.spawn({ command: ["echo", "begun"], flags: flags.held });
    await it1.got(held, "STARTED");
    await it1.ping();
    expect(it1.record(held).stdout.toString()).toBe("");
    it1.frame("RELEASE", held);
    expect((await it1.ended(held)).stdout.toString()).toBe("begun\n");
    const other = it1.spawn({ command: ["echo", "begun"], flags: flags.held });
    await it1.got(other, "STARTED");
    it1.frame("END_TREE", other, { graceMs: 0 });
    expect(await it1.ended(other)).toMatchObject({ stdout: Buffer.alloc(0) });
  });

  it("passes a long list of arguments and variables, and refuses strings that do not fit their counts", async () => {
    const long = "x".repeat(20_000);
    const { stdout } = await it1.run({
      command: ["sh", "-c", "echo ${#1} ${#B}", "sh", long],
      variables: ["PATH=/bin", `B=${long}`],
    });
    expect(stdout).toBe("20000 20000\n");
    const stream = it1.begin("SPAWN", {
      ...{ user: programUser, group: programUser, flags: 0, rows: 0, columns: 0 },
      ...{ argumentCount: 1, variableCount: 0, stringsBytes: 8 },
    });
    it1.frame("INPUT", stream, {}, Buffer.from("/\0true\0x"));
    expect((await it1.ended(stream)).end.fields).toMatchObject({
      reason: numbers["END_FAILED"],
      stage: numbers["STAGE_STRINGS"],
    });
  });

  it("signals the program alone or its whole tree", async () => {
    const script =
      "trap 'echo outer; exit' USR1; sh -c 'trap \"echo inner; exit\" USR1; echo ready; while :; do sleep 0.05; done' & while :; do sleep 0.05; done";
    const one = it1.spawn({ command: ["sh", "-c", script] });
    await it1.until("ready", () => it1.record(one).stdout.includes("ready"));
    it1.frame("SIGNAL", one, { signal: 10, scope: 0 });
    await it1.got(one, "EXIT");
    expect(it1.record(one).stdout.toString()).toBe("ready\nouter\n");
    it1.frame("SIGNAL", one, { signal: 10, scope: 1 });
    expect((await it1.ended(one)).stdout.toString()).toBe("ready\nouter\ninner\n");
  });

  it("can neither signal, stop, limit, read nor favour pid 1 or its warden", async () => {
    const { stdout } = await it1.run({ command: [hostile, "attack"] });
    expect(stdout).toBe("pid 1:\nwarden:\n");
  });

  it("leaves no descriptor, no process and no child behind after hundreds of spawns", async () => {
    await it1.run({ command: ["true"] });
    const first = firstProcess(it1);
    const before = descriptorsOf(first);
    for (let round = 0; round < 10; round++) {
      const streams = Array.from({ length: 30 }, () => it1.spawn({ command: ["true"] }));
      await Promise.all(streams.map((stream) => it1.ended(stream)));
    }
    it1.frame("ASK_LEFT", 0);
    await it1.until("LEFT", () => it1.zero.some(({ name }) => name === "LEFT"));
    expect(it1.zero.find(({ name }) => name === "LEFT")?.fields).toEqual({ count: 0 });
    expect(descriptorsOf(first)).toBe(before);
    const { stdout } = await it1.run({ command: ["sh", "-c", "echo $(ls /proc | grep -c '^[0-9]')"] });
    expect(Number(stdout)).toBeLessThan(9);
  });
});
