import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { frameHeader, readFrameTable, withFrameTables } from "../../scripts/supervisor-frames.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { sanitizedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { encodeFrame, limits, numbers, rawFrame } from "../helpers/supervisor/frames.ts";
import {
  flags,
  programUser,
  setupFields,
  Supervised,
  type SupervisedOptions,
} from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const fileOf = (name: string): string => readFileSync(join(projectFolder, "supervisor", name), "utf8");

describe("the table of frames", () => {
  it("is what the C header and the page say", () => {
    const table = readFrameTable();
    const stale = "stale: run node scripts/write-supervisor-frames.ts";
    expect(fileOf("frames.h"), stale).toBe(frameHeader(table));
    expect(fileOf("PROTOCOL.md"), stale).toBe(withFrameTables(fileOf("PROTOCOL.md"), table));
    expect(new Set(table.frames.map(({ type }) => type)).size).toBe(table.frames.length);
  });
});

describe.skipIf(reason !== undefined)(`the stream of frames ${reason ?? ""}`, () => {
  // The compiler takes its time on a loaded machine.
  beforeAll(() => void sanitizedSupervisor(), 180_000);
  const started: Supervised[] = [];
  const start = async (options: Partial<SupervisedOptions> = {}): Promise<Supervised> => {
    const made = await Supervised.start({ binary: sanitizedSupervisor(), ...options });
    started.push(made);
    return made;
  };
  afterEach(async () => {
    for (const each of started.splice(0)) await each[Symbol.asyncDispose]();
  });
  const setup = encodeFrame("SETUP", 0, setupFields(true));
  const spawnOf = (stream: number, stringsBytes = 8): Buffer =>
    encodeFrame("SPAWN", stream, { user: programUser, group: programUser, argumentCount: 1, stringsBytes });

  it("is read whole when it comes byte by byte", async () => {
    const subject = await start({ raw: true });
    const frames = Buffer.concat([
      setup,
      spawnOf(1, 12),
      encodeFrame("INPUT", 1, {}, { tail: Buffer.from("/\0/bin/true\0".slice(0, 5)) }),
      encodeFrame("INPUT", 1, {}, { tail: Buffer.from("/\0/bin/true\0".slice(5)) }),
      encodeFrame("PING", 0, { nonce: 7 }),
    ]);
    for (const byte of frames) {
      subject.send(Buffer.of(byte));
      if (byte % 3 === 0) await new Promise(setImmediate);
    }
    const { exit } = await subject.ended(1);
    expect(exit?.fields).toMatchObject({ code: 0 });
    expect(subject.zero.find(({ name }) => name === "PONG")?.fields).toEqual({ nonce: 7 });
  });

  it("that ends, after any byte, ends everything", async () => {
    const frames = Buffer.concat([setup, spawnOf(1), encodeFrame("PING", 0, { nonce: 1 })]);
    for (const length of [
      0,
      1,
      4,
      11,
      12,
      30,
      setup.length - 1,
      setup.length,
      setup.length + 5,
      frames.length - 1,
      frames.length,
    ]) {
      const subject = await start({ raw: true });
      subject.send(frames.subarray(0, length));
      subject.process.stdin?.end();
      expect([length, await subject.exited()]).toEqual([length, numbers["CODE_CUT"]]);
    }
  });

  const hostile: readonly (readonly [string, () => Uint8Array])[] = [
    ["a length of 4 GiB", () => Buffer.concat([Buffer.from("ffffffff", "hex"), Buffer.alloc(8)])],
    ["a length one byte above the bound", () => Buffer.concat([Buffer.from([0xf5, 0xff, 0, 0]), Buffer.alloc(8)])],
    ["a zero that is not zero", () => Buffer.from([8, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ["another epoch", () => encodeFrame("PING", 0, {}, { epoch: 2 })],
    ["a second SETUP", () => setup],
    ["an unknown type", () => rawFrame(200, 0, Buffer.alloc(0))],
    ["a type of the supervisor's", () => encodeFrame("PONG", 0)],
    ["type 0", () => rawFrame(0, 0, Buffer.alloc(0))],
    ["a payload that is too short", () => rawFrame(2, 0, Buffer.alloc(7))],
    ["a payload that is too long", () => rawFrame(2, 0, Buffer.alloc(9))],
    ["a stream that was never begun", () => encodeFrame("INPUT", 9)],
    ["a number of the supervisor's own", () => spawnOf(0x8000_0000)],
    ["stream 0 for a program", () => spawnOf(0)],
    ["a number that does not rise", () => Buffer.concat([spawnOf(5), spawnOf(5)])],
    ["CREDIT for nothing", () => Buffer.concat([spawnOf(1), encodeFrame("CREDIT", 1, { bytes: 1 })])],
    ["CREDIT of nothing", () => Buffer.concat([spawnOf(1), encodeFrame("CREDIT", 1)])],
    ["RELEASE of what is not held", () => Buffer.concat([spawnOf(1), encodeFrame("RELEASE", 1)])],
    ["RESIZE without a terminal", () => Buffer.concat([spawnOf(1), encodeFrame("RESIZE", 1)])],
    [
      "INPUT for a program that takes none",
      () => Buffer.concat([spawnOf(1), encodeFrame("INPUT", 1, {}, { tail: Buffer.alloc(9) })]),
    ],
    ["strings beyond the bound", () => spawnOf(1, limits["maxStringsBytes"]! + 1)],
    ["strings that cannot fit", () => spawnOf(1, 2)],
    ["a program without a name", () => encodeFrame("SPAWN", 1, { user: 1, stringsBytes: 100 })],
    ["unknown flags", () => encodeFrame("SPAWN", 1, { user: 1, flags: 1024, argumentCount: 1, stringsBytes: 100 })],
    ["signal 0", () => Buffer.concat([spawnOf(1), encodeFrame("SIGNAL", 1, { signal: 0 })])],
    ["a grace of a day", () => encodeFrame("END_TREE", 0, { graceMs: 86_400_000 })],
    ["an address family of 5", () => encodeFrame("DIAL", 1, { port: 1, family: 5, deadlineMs: 1 })],
    [
      "an address of another family",
      () => encodeFrame("DIAL", 1, { port: 1, family: 4, deadlineMs: 1 }, { tail: Buffer.alloc(16) }),
    ],
    ["port 0", () => encodeFrame("DIAL", 1, { port: 0, family: 4, deadlineMs: 1 })],
    ["a path that leads up", () => fileOf2("/", "../etc")],
    ["an absolute path", () => fileOf2("/", "/etc")],
    ["a relative folder", () => fileOf2("tmp", "x")],
    ["a path with a NUL", () => fileOf2("/", "a\0b")],
    ["paths longer than the frame", () => encodeFrame("FILE", 1, { verb: 1, folderBytes: 500, deadlineMs: 1 })],
  ];
  const fileOf2 = (folder: string, path: string): Buffer =>
    encodeFrame(
      "FILE",
      1,
      {
        verb: 1,
        folderBytes: folder.length,
        pathBytes: path.length,
        deadlineMs: 1000,
        user: programUser,
        group: programUser,
      },
      { tail: Buffer.from(folder + path) },
    );

  it.each(hostile)("with %s ends the sandbox", async (_, bytes) => {
    const subject = await start();
    subject.send(bytes());
    expect(await subject.exited()).toBe(numbers["CODE_NONSENSE"]);
    expect(subject.zero.at(-1)?.name).toBe("TROUBLE");
  });

  it("with INPUT beyond a window ends the sandbox", async () => {
    const subject = await start();
    const stream = subject.spawn({ command: ["sleep", "1000"], flags: flags.input });
    // More than a pipe and the window take, and less than the total.
    for (let sent = 0; sent < 3; sent++) subject.frame("INPUT", stream, {}, Buffer.alloc(60_000));
    expect(await subject.exited()).toBe(numbers["CODE_NONSENSE"]);
  });

  it("of random bytes, and of random frames, only ever ends it with a code of its own", async () => {
    const codes = [numbers["CODE_NONSENSE"], numbers["CODE_CUT"], numbers["CODE_ASKED"]];
    let state = 12345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const randomBytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)));
    const attempt = async (round: number): Promise<void> => {
      const subject = await start({ raw: true });
      subject.send(setup);
      for (let count = 0; count < 20; count++) {
        subject.send(
          round % 3 === 0 ? randomBytes(random(40)) : rawFrame(1 + random(18), random(3), randomBytes(random(80))),
        );
      }
      subject.process.stdin?.end();
      const code = await subject.exited();
      expect(codes, `round ${round}: ${code} ${subject.stderr}`).toContain(code);
    };
    await Promise.all(Array.from({ length: 12 }, (_, round) => attempt(round)));
  });
});
