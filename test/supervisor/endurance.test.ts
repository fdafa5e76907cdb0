import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { supervisorBinary } from "../../src/engines/supervised/supervisor-binary.ts";
import { hostileProgram, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { encodeFrame, limits } from "../helpers/supervisor/frames.ts";
import { descriptorsOf, firstProcess, residentKbOf } from "../helpers/supervisor/host-view.ts";
import { operate } from "../helpers/supervisor/operations.ts";
import { flags, Supervised, type SupervisedOptions } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";

// The program that is shipped, as it is.
describe.skipIf(reason !== undefined)(`the shipped supervisor ${reason ?? ""}`, () => {
  let subject: Supervised;
  const start = async (options: Partial<SupervisedOptions> = {}): Promise<Supervised> => {
    subject = await Supervised.start({
      ...{ binary: supervisorBinary(process.arch).path, mounts: ["--ro-bind", hostileProgram(), hostile], ...options },
    });
    return subject;
  };
  afterEach(async () => subject[Symbol.asyncDispose]());

  it("takes a million frames, answers the last, and has grown by nothing", async () => {
    await start();
    await subject.ping();
    const first = firstProcess(subject);
    const before = residentKbOf(first);
    const some = Buffer.concat(
      Array.from({ length: 50_000 }, (_, at) =>
        encodeFrame(at % 5 === 0 ? "ASK_LEFT" : "PING", 0, at % 5 === 0 ? {} : { nonce: at }),
      ),
    );
    for (let round = 0; round < 20; round++) {
      await new Promise<void>((resolve) => void subject.process.stdin?.write(some, () => resolve()));
    }
    subject.frame("PING", 0, { nonce: 4711 });
    await subject.until("the last answer", () => subject.zero.some(({ fields }) => fields["nonce"] === 4711));
    expect(residentKbOf(first) - before).toBeLessThan(300);
  });

  it("keeps no descriptor, process or memory of a thousand streams of every kind", async () => {
    await start();
    const first = firstProcess(subject);
    const round = async (count: number): Promise<void> => {
      const list = Array.from({ length: count });
      await Promise.all([
        ...list.map(() => subject.ended(subject.spawn({ command: ["true"] }))),
        ...list.map(() => subject.ended(subject.spawn({ command: ["no-such"] }))),
        ...list.map(() => subject.ended(subject.spawn({ command: ["true"], flags: flags.input | flags.terminal }))),
        ...list.map(() => subject.ended(subject.begin("DIAL", { port: 9, family: 4, deadlineMs: 1000 }))),
        ...list.map(async () => {
          const listener = subject.begin("LISTEN", { port: 0, family: 4, kind: 0 });
          const { fields } = await subject.got(listener, "OPENED");
          const dialled = subject.begin("DIAL", { port: fields["port"]!, family: 4, deadlineMs: 5000 });
          await subject.got(dialled, "OPENED");
          for (const stream of [dialled, listener]) subject.frame("CLOSE", stream);
          await Promise.all([dialled, listener].map((stream) => subject.ended(stream)));
        }),
        ...list.map((_, at) => operate(subject, { verb: "WRITE", folder: "/tmp", path: `file${at}` }, "content")),
        ...list.map(() => operate(subject, { verb: "LOOK", folder: "/tmp", path: "missing" })),
      ]);
      for (const [stream, { frames }] of subject.streams) {
        // What was accepted and not closed by its other end.
        if (stream >= limits["firstOwnStream"]! && frames.at(-1)?.name !== "ENDED") subject.frame("CLOSE", stream);
      }
      await subject.ping();
      subject.streams.clear();
    };
    await round(10);
    const before = [descriptorsOf(first), residentKbOf(first)] as const;
    for (let count = 0; count < 12; count++) await round(12);
    await subject.until("the last processes", () => descriptorsOf(first) <= before[0]);
    expect(residentKbOf(first) - before[1]).toBeLessThan(400);
    subject.frame("ASK_LEFT", 0);
    await subject.until("LEFT", () => subject.zero.some(({ name }) => name === "LEFT"));
    expect(subject.zero.find(({ name }) => name === "LEFT")?.fields).toEqual({ count: 0 });
  });

  it("passes four megabytes in and out of a program, whole", async () => {
    await start();
    const stream = subject.spawn({ command: ["sha256sum"], flags: flags.input });
    const chunk = Buffer.alloc(60_000, "abcdefg");
    const record = subject.record(stream);
    for (let sent = 0; sent < 70; sent++) {
      await subject.until("a window", () => record.window >= chunk.length);
      record.window -= chunk.length;
      subject.frame("INPUT", stream, {}, chunk);
    }
    subject.frame("INPUT_END", stream);
    const sum = (await subject.ended(stream)).stdout.toString().slice(0, 64);
    const again = subject.spawn({
      command: ["sh", "-c", 'for i in $(seq 70); do printf %s "$1"; done', "sh", chunk.toString()],
    });
    const { stdout } = await subject.ended(again);
    expect(stdout.length).toBe(4_200_000);
    expect(createHash("sha256").update(stdout).digest("hex")).toBe(sum);
  });
});
