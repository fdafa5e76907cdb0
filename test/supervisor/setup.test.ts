import { until } from "../helpers/until.ts";
import { chmodSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { spawnFilter } from "../../src/policy/seccomp/spawn-filter.ts";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { descriptorsOf, firstProcess } from "../helpers/supervisor/host-view.ts";
import { encodeFrame, numbers } from "../helpers/supervisor/frames.ts";
import { operate } from "../helpers/supervisor/operations.ts";
import { flags, setupFields, Supervised, type SupervisedOptions } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";
const architecture = process.arch === "arm64" ? "arm64" : "x64";
/** What pid 1 becomes where programs are user 0. */
const ordinary = 65_534;

describe.skipIf(reason !== undefined)(`who is who ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(() => void sanitizedSupervisor(), 180_000);
  const start = async (options: Partial<SupervisedOptions> = {}): Promise<Supervised> => {
    subject = await Supervised.start({
      ...{ binary: sanitizedSupervisor(), mounts: ["--ro-bind", hostileProgram(), hostile], ...options },
    });
    return subject;
  };
  afterEach(async () => subject[Symbol.asyncDispose]());
  const becomes = { ownUser: ordinary, ownGroup: ordinary };
  const capabilitiesOf = "grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status | cut -f 2 | uniq";

  it.each([
    [["CHOWN", "DAC_OVERRIDE", "FOWNER"], "00000000000000cb"],
    [["CHOWN", "FOWNER"], "00000000000000c9"],
  ])(
    "setup commands keep what pid 1 was given of %j, and can do with it what they must",
    async (capabilities, kept) => {
      await start({ capabilities, setup: becomes });
      expect(subject.hello.fields).toMatchObject({ mode: 1, user: ordinary, group: ordinary });
      const { stdout, stderr } = await subject.run({
        command: [
          "sh",
          "-c",
          `id -u; ${capabilitiesOf}; : > /tmp/mine; chown 100:100 /tmp/mine; chmod 600 /tmp/mine; stat -c %u:%a /tmp/mine`,
        ],
        ...{ user: 0, flags: flags.setup },
      });
      expect([stdout, stderr]).toEqual([`0\n${kept}\n100:600\n`, ""]);
    },
  );

  it("setup commands can become another user, pid 1's too, and still not touch it", async () => {
    const { program: filter } = spawnFilter(architecture);
    await start({ capabilities: ["CHOWN", "DAC_OVERRIDE", "FOWNER"], setup: becomes, filter });
    for (const user of [0, 100, ordinary]) {
      const script = `exec setpriv --reuid ${user} --regid ${user} --clear-groups ${hostile} attack-first`;
      const { stdout, stderr } = await subject.run({
        ...{ command: ["sh", "-c", user === 0 ? `exec ${hostile} attack-first` : script], user: 0, flags: flags.setup },
      });
      // Signals reach pid 1 from a process of its own user; the kernel drops them. Who may write any file may also write
      // that pid 1 is to be the first when memory ends: a setup command can ruin its own sandbox.
      expect([user, stdout.replaceAll(/ signal| stop| kill| oom_score_adj/g, ""), stderr]).toEqual([
        user,
        "pid 1:\n",
        "",
      ]);
    }
    await subject.ping();
  });

  it("pid 1 keeps three capabilities and what it opened itself, nothing of its starter's", async () => {
    await start();
    await subject.ping();
    const first = firstProcess(subject);
    const status = readFileSync(`/proc/${first}/status`, "utf8");
    expect(/CapPrm:\s+(\w+)[^]*CapBnd:\s+(\w+)/.exec(status)?.slice(1)).toEqual([
      "00000000000000e0",
      "0000000000000000",
    ]);
    // The control stream and diagnostics, signals, and three pipes of the process that waits for a file operation.
    expect(descriptorsOf(first)).toBe(7);
    expect(readFileSync(`/proc/${first}/environ`, "utf8").replaceAll("\0", "")).toBe("");
  });

  it("programs of user 0 have nothing of it, and cannot touch pid 1 or their warden", async () => {
    await start({ setup: becomes });
    const { stdout } = await subject.run({
      command: ["sh", "-c", `${capabilitiesOf}; exec ${hostile} attack`],
      user: 0,
    });
    expect(stdout).toBe("0000000000000000\npid 1:\nwarden:\n");
    const { end } = await subject.ended(subject.spawn({ command: ["true"], user: ordinary }));
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], stage: numbers["STAGE_USER"] });
  });

  it("programs keep the bounding set where pid 1 may not drop it, and gain nothing from it", async () => {
    await start({ without: ["SETPCAP"] });
    expect(subject.hello.fields["capabilities"]).toBe(0xe0);
    const { stdout } = await subject.run({
      command: ["sh", "-c", "grep -E 'Cap(Prm|Eff|Inh|Amb)' /proc/self/status | cut -f 2 | uniq"],
    });
    expect(stdout).toBe("0000000000000000\n");
  });

  it.each([true, false])(
    "the host's filter is in force in every program, and proved by numbers of its own (apart: %s)",
    async (apart) => {
      const { program, probes } = spawnFilter(architecture);
      const setup = Object.fromEntries(probes.map(({ call }, at) => [`probe${at + 1}`, call]));
      await start({ apart, filter: program, setup });
      const { fields } = subject.hello;
      expect([fields["probe1"], fields["probe2"], fields["probe3"]]).toEqual(probes.map(({ errno }) => errno));
      expect(fields["probe1"]).toBe(3001);
      // Shared: the user of these namespaces is root outside, and pid 1's files in /proc are root's.
      expect(fields["facts"]! & numbers["FACT_FILTER"]!).not.toBe(0);
      const { stdout } = await subject.run({
        command: ["sh", "-c", `grep Seccomp: /proc/self/status; ${hostile} attack-first`],
      });
      expect(stdout.replaceAll(/ signal| stop| kill| oom_score_adj/g, "")).toBe("Seccomp:\t2\npid 1:\n");
    },
  );

  it("a filter that the kernel does not take lets nothing run", async () => {
    await start({ filter: Buffer.alloc(8, 0xff) });
    expect(subject.hello.fields["probe1"]).toBe(0xffff_ffff);
    const { end } = await subject.ended(subject.spawn({ command: ["true"] }));
    expect(end.fields).toMatchObject({ reason: numbers["END_FAILED"], stage: numbers["STAGE_FILTER"] });
    // The process that waits for file operations has no filter: it runs nothing of anybody's.
    expect(await operate(subject, { verb: "LOOK", folder: "/tmp" })).toMatchObject({ reason: "DONE" });
  });
});

describe.skipIf(reason !== undefined)(`limits of programs, and how it was started ${reason ?? ""}`, () => {
  beforeAll(() => void sanitizedSupervisor(), 180_000);
  /** Nobody else's, so that only this sandbox counts for it. */
  const user = 54_987;
  const start = (setup: Readonly<Record<string, number>>, mounts: readonly string[] = []): Promise<Supervised> =>
    Supervised.start({
      ...{ binary: sanitizedSupervisor(), mounts: ["--ro-bind", hostileProgram(), hostile, ...mounts] },
      setup: { probeUser: user, probeGroup: user, ...setup },
    });

  it("each program has those of SETUP, hard ones, and can raise none", async () => {
    await using subject = await start({
      ...{ processes: 6, openFiles: 64, signals: 70, queueBytes: 8_192, lockedBytes: 4_096, fileBytes: 1_048_576 },
    });
    expect(subject.hello.fields["facts"]! & numbers["FACT_PROCESS_LIMIT"]!).not.toBe(0);
    const titles = ["processes", "open files", "pending signals", "msgqueue size", "locked memory", "file size"];
    const asked = `grep -E 'Max (${titles.join("|")}|core file size) ' /proc/self/limits | sed 's/  */ /g'; ulimit -Hn 65 || echo kept`;
    const { stdout } = await subject.run({ command: ["sh", "-c", asked], user });
    expect(
      stdout
        .replaceAll(/ (?:bytes|files|signals|processes) ?$/gm, "")
        .split("\n")
        .toSorted(),
    ).toEqual(
      [
        ...["", "kept", "Max core file size 0 0", "Max file size 1048576 1048576", "Max locked memory 4096 4096"],
        ...["Max msgqueue size 8192 8192", "Max open files 64 64", "Max pending signals 70 70", "Max processes 6 6"],
      ].toSorted(),
    );
  });

  it("bound the processes of the user together, in each program, and stop neither a start nor an end", async () => {
    await using subject = await start({ processes: 6 });
    const bomb = subject.spawn({ command: [hostile, "bomb"], user });
    await subject.until("ready", () => subject.record(bomb).stdout.includes("ready"));
    const count = "for pid in /proc/[0-9]*; do stat -c %u $pid; done 2>/dev/null | grep -c 54987";
    const counted = async (): Promise<number> =>
      Number((await subject.run({ command: ["sh", "-c", count], user: 54_988 })).stdout);
    // It says so before its first fork.
    await until(async () => (await counted()) > 3);
    expect(await counted()).toBeLessThanOrEqual(6);
    // One more program of the same user: its own fork is refused, and not its start.
    const other = await subject.run({ command: ["sh", "-c", "echo begun; true & wait"], user });
    expect(other.stdout).toContain("begun");
    subject.frame("END_TREE", bomb, { graceMs: 0 });
    expect((await subject.ended(bomb)).end.fields["reason"]).toBe(numbers["END_DONE"]);
  });

  it("are told to hold only where the kernel keeps them: root's do not", async () => {
    await using subject = await start({ probeUser: 0, probeGroup: 0, ownUser: ordinary, ownGroup: ordinary });
    expect(subject.hello.fields["facts"]! & numbers["FACT_PROCESS_LIMIT"]!).toBe(0);
  });

  it("variables and mounts are told once, when they are asked for, and stay nowhere", async () => {
    await using subject = await start({ flags: 3 });
    await subject.until("mounts", () => subject.zero.some(({ name }) => name === "MOUNTS"));
    const [variables, mounts] = ["VARIABLES", "MOUNTS"].map((name) => subject.zero.find((each) => each.name === name));
    expect(variables?.tail.toString().split("\0")).toContain("ASAN_OPTIONS=detect_leaks=0");
    expect(variables?.fields["bytes"]).toBe(variables?.tail.length);
    expect(mounts?.tail.toString()).toMatch(/^\d+ \d+ \d+:\d+ \/\S* \/proc /m);
    expect(readFileSync(`/proc/${firstProcess(subject)}/environ`, "utf8").replaceAll("\0", "")).toBe("");
    await using silent = await start({});
    await silent.ping();
    expect(silent.zero.map(({ name }) => name)).toEqual(["HELLO", "PONG"]);
  });

  it.each([
    "head -c 200000 /dev/zero > /dev/termination-log",
    "truncate -s 1G /dev/termination-log",
    "fallocate -l 1M /dev/termination-log",
  ])("a program that fills the file that a cluster keeps for its last words ends the sandbox: %s", async (command) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "glovebox-last-words-"));
    const file = join(folder.path, "words");
    writeFileSync(file, "");
    chmodSync(file, 0o666);
    await using subject = await start({}, ["--bind", file, "/dev/termination-log"]);
    const few = await subject.run({ command: ["sh", "-c", "echo last words > /dev/termination-log; sleep 0.6"], user });
    expect(few.stderr).toBe("");
    subject.spawn({ command: ["sh", "-c", `${command}; sleep 60`], user });
    expect(await subject.exited()).toBe(numbers["CODE_FLOOD"]);
  });

  it("takes no flag that nobody knows", async () => {
    await using subject = await Supervised.start({ binary: sanitizedSupervisor(), raw: true });
    subject.send(encodeFrame("SETUP", 0, { ...setupFields(true), flags: 4 }));
    expect(await subject.exited()).toBe(numbers["CODE_NONSENSE"]);
  });
});

describe.skipIf(reason !== undefined)(`numbers ${reason ?? ""}`, () => {
  it.each([
    [520, numbers["CODE_FLOOD"]],
    // Some are the kernel's own.
    [480, numbers["CODE_ASKED"]],
  ])("very many netlink sockets end the sandbox, and no fewer (%d)", async (count, code) => {
    await using subject = await Supervised.start({ binary: sanitizedSupervisor() });
    const script = [
      "import socket, time",
      `held = [socket.socket(16, 3, 0) for _ in range(${count})]`,
      // Only then the kernel can answer it.
      "for each in held: each.bind((0, 0))",
      "print(len(held), flush=True)",
      "time.sleep(60)",
    ].join("\n");
    const stream = subject.spawn({ command: ["python3", "-c", script] });
    await subject.got(stream, "OUTPUT");
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    if (code === 0) subject.frame("END_TREE", 0, { graceMs: 0 });
    expect(await subject.exited()).toBe(code);
  });

  it("are said once, again and again, or no more, as the host asks", async () => {
    await using subject = await Supervised.start({ binary: sanitizedSupervisor() });
    const stream = subject.spawn({ command: ["sleep", "1000"] });
    await subject.got(stream, "STARTED");
    const stats = () => subject.zero.filter(({ name }) => name === "STATS");
    const count = (least: number): Promise<void> => subject.until(`${least} STATS`, () => stats().length >= least);
    subject.frame("NUMBERS", 0, { intervalMs: 0 });
    await count(1);
    const [first] = stats();
    expect(first?.tail.readUInt32LE(0)).toBe(stream);
    expect(first?.tail.readUInt32LE(4)).toBe(1);
    expect(first?.fields["processes"]).toBeGreaterThan(2);
    subject.frame("NUMBERS", 0, { intervalMs: 100 });
    await count(3);
    // One more does not end what is pushed.
    subject.frame("NUMBERS", 0, { intervalMs: 0 });
    await count(6);
    subject.frame("NUMBERS", 0, { intervalMs: 0xffff_ffff });
    await subject.ping();
    const before = stats().length;
    await new Promise((resolve) => setTimeout(resolve, 350));
    await subject.ping();
    expect(stats().length).toBe(before);
    subject.frame("NUMBERS", 0, { intervalMs: 99 });
    expect(await subject.exited()).toBe(numbers["CODE_NONSENSE"]);
  });
});
