import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostileProgram, sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { childrenOf, firstProcess } from "../helpers/supervisor/host-view.ts";
import { flags, programUser, Supervised } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";

/** How far a program is: begins one and gives its stream. */
const phases: Readonly<Record<string, (subject: Supervised) => Promise<number>>> = {
  "waits for its strings": async (subject) => {
    const stream = subject.begin("SPAWN", {
      ...{ user: programUser, group: programUser, argumentCount: 1, variableCount: 0, stringsBytes: 100 },
    });
    subject.frame("INPUT", stream, {}, Buffer.from("/\0"));
    return stream;
  },
  "is held": async (subject) => {
    const stream = subject.spawn({ command: ["sleep", "1000"], flags: flags.held });
    await subject.got(stream, "STARTED");
    return stream;
  },
  "runs, with a daemon": async (subject) => {
    const stream = subject.spawn({ command: ["sh", "-c", `${hostile} daemon; exec sleep 1000`] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    return stream;
  },
  "has ended, and its daemon has not": async (subject) => {
    const stream = subject.spawn({ command: [hostile, "daemon"] });
    await subject.got(stream, "EXIT");
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    return stream;
  },
  "is a comet": async (subject) => {
    const stream = subject.spawn({ command: [hostile, "comet-daemon"] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    return stream;
  },
  "is being ended": async (subject) => {
    const stream = subject.spawn({ command: ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 60_000 });
    return stream;
  },
};

describe.skipIf(reason !== undefined).each([
  ["below it", {}],
  ["of a group", { lacks: ["no-subreaper"], setup: { firstTag: 200_000, tagCount: 256 } }],
] as const)(`a warden of processes %s ${reason ?? ""}`, (_, options) => {
  let subject: Supervised;
  let first: number;
  let other: number;
  beforeAll(async () => {
    subject = await Supervised.start({
      ...{ binary: sanitizedSupervisor(), mounts: ["--ro-bind", hostileProgram(), hostile], ...options },
    });
    first = firstProcess(subject);
    other = subject.spawn({ command: ["cat"], flags: flags.input });
    await subject.got(other, "STARTED");
  }, 180_000);
  afterAll(async () => subject[Symbol.asyncDispose]());

  const left = async (): Promise<number> => {
    const before = subject.zero.length;
    subject.frame("ASK_LEFT", 0);
    await subject.until("LEFT", () => subject.zero.slice(before).some(({ name }) => name === "LEFT"));
    return subject.zero.slice(before).find(({ name }) => name === "LEFT")!.fields["count"]!;
  };

  // Where there is no subreaper a warden has nothing to wait for when its program has ended, and is gone.
  const withWarden = Object.keys(phases).filter(
    (phase) => !("lacks" in options) || !["has ended, and its daemon has not", "is a comet"].includes(phase),
  );
  it.each(withWarden.flatMap((phase) => ["SIGKILL", "SIGSTOP"].map((signal) => [signal, phase] as const)))(
    "that gets %s while its program %s is lost, its tree ends, and the others go on",
    async (signal, phase) => {
      const before = new Set(childrenOf(first));
      const stream = await phases[phase]!(subject);
      await subject.ping();
      const fresh = childrenOf(first).filter((pid) => !before.has(pid));
      // Where there is no subreaper daemons are pid 1's children too; the warden is the oldest.
      process.kill(Math.min(...fresh), signal);
      const { end } = await subject.ended(stream);
      expect(end.fields["reason"]).toBe(numbers["END_LOST"]);
      // The other program.
      expect(await left()).toBe(1);
      await subject.ping();
      expect((await subject.run({ command: ["echo", "on"] })).stdout).toBe("on\n");
    },
  );
});
