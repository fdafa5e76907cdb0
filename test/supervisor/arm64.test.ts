import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { supervisorBuild } from "../../src/engines/supervised/supervisor-builds.ts";
import { supervisorBinary } from "../../src/engines/supervised/supervisor-binary.ts";
import { hostileProgram, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { numbers } from "../helpers/supervisor/frames.ts";
import { operate } from "../helpers/supervisor/operations.ts";
import { flags, Supervised } from "../helpers/supervisor/supervised.ts";
import { tarOf } from "../helpers/supervisor/tar.ts";

/** The program that runs arm64 programs here; Debian: qemu-user or qemu-user-static. */
const emulator = ["/usr/bin/qemu-aarch64-static", "/usr/bin/qemu-aarch64"].find((path) => existsSync(path));
const why = (): string | undefined => {
  const reason = whyNoSupervisor();
  if (reason !== undefined || process.arch === "arm64") return reason ?? "this machine is arm64 itself";
  if (emulator === undefined) return "there is no qemu-aarch64";
  const { status } = spawnSync(emulator, [supervisorBinary("arm64").path]);
  return status === numbers["CODE_PLACE"] ? undefined : `qemu-aarch64 cannot run it: ${status}`;
};
const reason = why();
const hostile = "/tmp/hostile";

/**
 * The shipped program for arm64 as pid 1, emulated; what it starts is of this machine. The emulator has no seccomp, no
 * openat2 and its own idea of descriptors; the filter for arm64 is tried by an interpreter in spawn-filter.test.ts.
 */
describe.skipIf(reason !== undefined)(`the supervisor for arm64 ${reason ?? ""}`, () => {
  let subject: Supervised;
  beforeAll(async () => {
    subject = await Supervised.start({
      binary: supervisorBinary("arm64").path,
      // The emulator does not say whether there is a child subreaper.
      ...{ interpreter: emulator ?? "", setup: { firstTag: 200_000, tagCount: 256 } },
      ...{ mounts: ["--ro-bind", hostileProgram(), hostile] },
    });
  }, 60_000);
  afterAll(async () => subject[Symbol.asyncDispose]());

  it("says what it is", () => {
    expect(subject.hello.fields).toMatchObject({ version: 1, architecture: 2, mode: 1, capabilities: 0xe0 });
    expect(subject.hello.fields["facts"]! & (numbers["FACT_SUBREAPER"]! | numbers["FACT_TAGS"]!)).not.toBe(0);
    expect(subject.hello.tail.toString()).toBe(supervisorBuild);
  });

  it("starts programs, passes their input and output, and says how they ended", async () => {
    const stream = subject.spawn({ command: ["sh", "-c", "cat; echo bad >&2; id -u; exit 3"], flags: flags.input });
    subject.frame("INPUT", stream, {}, Buffer.from("text\n"));
    subject.frame("INPUT_END", stream);
    const { stdout, stderr, exit } = await subject.ended(stream);
    expect([stdout.toString(), stderr.toString(), exit?.fields["code"]]).toEqual(["text\n54321\n", "bad\n", 3]);
    expect((await subject.ended(subject.spawn({ command: ["no-such"] }))).end.fields).toMatchObject({ error: 2 });
  });

  it.each(["daemon", "dead-thread-daemon", "comet-daemon", "bomb"])("ends a tree with a %s", async (how) => {
    const stream = subject.spawn({ command: [hostile, how] });
    await subject.until("ready", () => subject.record(stream).stdout.includes("ready"));
    subject.frame("END_TREE", stream, { graceMs: 10 });
    expect((await subject.ended(stream)).end.fields["reason"]).toBe(numbers["END_DONE"]);
  });

  it("does files and archives", async () => {
    const folder = "/tmp";
    expect(
      await operate(subject, { verb: "WRITE", folder, path: "a/file", flags: ["PARENTS"] }, "content"),
    ).toMatchObject({
      reason: "DONE",
    });
    expect((await operate(subject, { verb: "READ", folder, path: "a/file" })).output.toString()).toBe("content");
    const archive = tarOf({ name: "one", content: "1" }, { name: "l", type: "2", target: "one" });
    expect(await operate(subject, { verb: "UNPACK", folder, path: "a" }, archive)).toMatchObject({ entries: 2 });
    expect(await operate(subject, { verb: "PACK", folder, path: "a" })).toMatchObject({ reason: "DONE", entries: 3 });
    expect(await operate(subject, { verb: "READ", folder, path: "a/l" })).toMatchObject({ reason: "FAILED" });
  });
});
