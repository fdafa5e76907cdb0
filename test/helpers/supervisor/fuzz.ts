import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { projectFolder } from "../project-folder.ts";
import { fuzzedSupervisor } from "./binaries.ts";
import { encodeFrame, limits, numbers, rawFrame } from "./frames.ts";
import { setupFields, systemLinks } from "./supervised.ts";

/** Where inputs are kept: frames that follow a SETUP. What breaks the supervisor is added. */
const corpusFolder = join(projectFolder, "test/fixtures/supervisor/corpus");

/** What a fuzzer found. */
export interface FuzzReport {
  readonly cases: number;
  /** How many ended with which code. */
  readonly codes: Readonly<Record<string, number>>;
  /** What went wrong, and the input as hexadecimal digits. */
  readonly findings: readonly string[];
}

interface RawFrame {
  type: number;
  stream: number;
  payload: Buffer;
}

/** The inputs that are kept. */
export function readCorpus(): readonly Buffer[] {
  return readdirSync(corpusFolder)
    .toSorted()
    .map((name) => readFileSync(join(corpusFolder, name)));
}

/** Codes with which a supervisor may end, whatever it is sent. */
const orderly = new Set(["ASKED", "NONSENSE", "SILENCE", "CUT"].map((name) => String(numbers[`CODE_${name}`])));

/** Gives the supervisor mutations of the kept inputs, and these themselves first, for so long. */
export async function fuzzSupervisor({
  seed,
  seconds,
}: {
  readonly seed: number;
  readonly seconds: number;
}): Promise<FuzzReport> {
  fuzzedSupervisor();
  const random = randomFrom(seed);
  const corpus = readCorpus();
  const codes: Record<string, number> = {};
  const findings: string[] = [];
  let cases = 0;
  const until = performance.now() + seconds * 1000;
  const work = async (): Promise<void> => {
    const runner = new Runner();
    while (performance.now() < until && findings.length < 3) {
      const kept = corpus[cases];
      cases++;
      const input = kept === undefined ? mutated(corpus, random) : afterSetup(kept);
      const answer = await runner.run(input, kept === undefined ? [0, 2, 10, 30][random(4)]! : 30);
      codes[answer] = (codes[answer] ?? 0) + 1;
      if (!orderly.has(answer)) findings.push(`${answer}: ${Buffer.from(input).toString("hex")}`);
    }
    await runner.close();
  };
  await Promise.all([work(), work()]);
  return { cases, codes, findings };
}

const setup = encodeFrame("SETUP", 0, setupFields(true));

function afterSetup(frames: Buffer): Buffer {
  return Buffer.concat([setup, frames]);
}

/** A generator of numbers that are the same for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function framesOf(bytes: Buffer): RawFrame[] {
  const frames: RawFrame[] = [];
  for (let at = 0; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32LE(at);
    frames.push({
      ...{ type: bytes.readUInt8(at + 4), stream: bytes.readUInt32LE(at + 8) },
      payload: Buffer.from(bytes.subarray(at + 12, at + 12 + length)),
    });
    at += 12 + length;
  }
  return frames;
}

const interesting = [
  ...[0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 65, 100, 127, 128, 255, 256, 512, 1000, 4095, 4096, 4097],
  ...[32_767, 65_524, 65_535, 65_536, 1_048_576, 2_097_152, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff],
];

function mutated(corpus: readonly Buffer[], random: (below: number) => number): Buffer {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  let frames = framesOf(pick(corpus));
  for (let count = 1 + random(4); count > 0; count--) {
    const frame = frames.length > 0 ? pick(frames) : undefined;
    if (frame === undefined) break;
    const at = random(frames.length);
    const changes: readonly (() => void)[] = [
      () => frames.splice(at, 1),
      () => frames.splice(at, 0, { ...frame, payload: Buffer.from(frame.payload) }),
      () => frames.splice(at, 0, ...framesOf(pick(corpus)).slice(0, 1 + random(4))),
      () => (frames = [...frames.slice(0, at), ...framesOf(pick(corpus)).slice(random(5))]),
      () => (frame.stream = pick([0, 1, 2, 3, 4, 5, 9, limits["firstOwnStream"]!, 0xffff_ffff])),
      () => (frame.type = pick([random(18), random(80), random(256)])),
      () => (frame.payload = frame.payload.subarray(0, random(frame.payload.length + 1))),
      () => (frame.payload = Buffer.concat([frame.payload, Buffer.alloc(random(40), random(256))])),
      () => changeBytes(frame.payload, random),
      () => changeBytes(frame.payload, random),
      () => changeBytes(frame.payload, random),
    ];
    pick(changes)();
  }
  const bytes = Buffer.concat(frames.map(({ type, stream, payload }) => rawFrame(type, stream, payload)));
  if (random(12) === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
  const input = afterSetup(bytes);
  if (random(15) === 0) changeBytes(input.subarray(12, setup.length), random);
  return input.subarray(0, random(8) === 0 ? random(input.length) : input.length);
}

function changeBytes(bytes: Buffer, random: (below: number) => number): void {
  if (bytes.length < 8) {
    if (bytes.length > 0) bytes[random(bytes.length)] = random(256);
    return;
  }
  const at = random(Math.min(bytes.length - 3, random(3) === 0 ? bytes.length : 80));
  const value = interesting[random(interesting.length)]!;
  const change = random(4);
  if (change === 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  else if (change === 1) bytes.writeUInt32LE(value, Math.min(at, bytes.length - 4));
  else if (change === 2) bytes.writeUInt16LE(value & 0xffff, at);
  else bytes[at] = value & 0xff;
}

/** One process that runs inputs one after the other, where nothing that they do reaches the machine. */
class Runner {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  readonly #ended: Promise<unknown>;

  constructor() {
    const capabilities = ["SYS_ADMIN", "SETUID", "SETGID", "KILL", "SETPCAP"];
    this.#process = spawn(
      "bwrap",
      [
        ...["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--clearenv"],
        ...["--cap-drop", "ALL", ...capabilities.flatMap((name) => ["--cap-add", `CAP_${name}`])],
        ...["--ro-bind", "/usr", "/usr", ...systemLinks, "--proc", "/proc", "--dev", "/dev"],
        ...["--size", "16777216", "--tmpfs", "/tmp", "--chmod", "1777", "/tmp"],
        ...["--ro-bind", fuzzedSupervisor(), "/tmp/fuzz"],
        ...["--setenv", "ASAN_OPTIONS", "detect_leaks=0:log_path=/tmp/report"],
        ...["--setenv", "UBSAN_OPTIONS", "log_path=/tmp/report", "/tmp/fuzz"],
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    this.#process.stdin?.on("error", () => undefined);
    this.#lines = createInterface({ input: this.#process.stdout! });
    this.#ended = once(this.#process, "close");
  }

  async run(input: Uint8Array, waitMs: number): Promise<string> {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(input.length, 0);
    head.writeUInt32LE(waitMs, 4);
    const answer = once(this.#lines, "line") as Promise<[string]>;
    this.#process.stdin?.write(Buffer.concat([head, input]));
    const gone = this.#ended.then(() => ["the runner has ended"] as const);
    const [line] = await Promise.race([answer, gone]);
    return line;
  }

  async close(): Promise<void> {
    this.#process.stdin?.end();
    await this.#ended;
  }
}
