import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import type { OutputChunk, Process, ProcessExit } from "../../../engines/engine.ts";
import { KeptInterpreter, MarkFinder, markOf } from "./kept-interpreter.ts";
import { maxReportBytes, readReport, ReportReader } from "./read-report.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const reportOf = (value: unknown): string => {
  const text = JSON.stringify(value);
  return `${Buffer.byteLength(text)}\n${text}`;
};
const exception = { name: "E", value: "v", traceback: "t" };
const good = {
  exit_code: 3,
  displays: [{ value: 0, is_result: true, media_type: "text/plain", encoding: "utf8", content: "é" }],
  exception,
};

/** An interpreter of which the test writes the output. */
function scripted(chunks: readonly (readonly [OutputChunk["stream"], string])[]) {
  const signals: string[] = [];
  const { promise: exit, resolve } = Promise.withResolvers<ProcessExit>();
  const process: Process = {
    stdin: new PassThrough(),
    output: (async function* () {
      for (const [stream, text] of chunks) yield { stream, bytes: bytes(text) };
      resolve({ exitCode: 9 });
    })(),
    exit,
    kill: (signal) => {
      signals.push(signal);
      return Promise.resolve();
    },
    signal: (signal) => {
      signals.push(signal);
      return Promise.resolve();
    },
  };
  return { interpreter: new KeptInterpreter(process), signals };
}

async function textsOf(process: Process): Promise<Record<OutputChunk["stream"], string>> {
  const texts = { stdout: "", stderr: "" };
  for await (const chunk of process.output) texts[chunk.stream] += Buffer.from(chunk.bytes).toString();
  return texts;
}

describe("a call of an interpreter that goes on", () => {
  const mark = markOf("t").toString();

  it("ends with its marks, wherever they are cut, and leaves what follows to the next", async () => {
    const { interpreter } = scripted([
      ["stdout", "a\u001e"],
      ["stdout", `b${mark.slice(0, 2)}`],
      ["stderr", `e${mark}late `],
      ["stdout", `${mark.slice(2)}${reportOf(good).slice(0, 5)}`],
      ["stdout", `${reportOf(good).slice(5)}early`],
      ["stdout", markOf("u").toString() + reportOf({ ...good, exit_code: 0 })],
      ["stderr", markOf("u").toString()],
    ]);
    const first = interpreter.call("t");
    expect(await textsOf(first.process)).toEqual({ stdout: "a\u001eb", stderr: "e" });
    expect(await first.process.exit).toEqual({ exitCode: 3 });
    expect(first.report()).toMatchObject({
      displays: [{ value: 0, isResult: true, mediaType: "text/plain", encoding: "utf8", content: "é" }],
      exception,
    });
    const second = interpreter.call("u");
    expect(await textsOf(second.process)).toEqual({ stdout: "early", stderr: "late " });
    expect(await second.process.exit).toEqual({ exitCode: 0 });
    expect(interpreter.isOver).toBe(false);
  });

  it("can be interrupted while it runs, and not before, between two calls or after its interpreter", async () => {
    const { interpreter, signals } = scripted([
      ["stdout", mark + reportOf(good)],
      ["stderr", mark],
      ["stdout", "more"],
    ]);
    await interpreter.interrupt();
    const first = interpreter.call("t");
    expect(signals).toEqual([]);
    await interpreter.interrupt();
    expect(signals).toEqual(["SIGINT"]);
    await textsOf(first.process);
    await interpreter.interrupt();
    expect(signals).toEqual(["SIGINT"]);
    const last = interpreter.call("u");
    await textsOf(last.process);
    await last.process.exit;
    await interpreter.interrupt();
    expect(signals).toEqual(["SIGINT"]);
  });

  it("that ends its interpreter has the interpreter's end, and all that was written", async () => {
    const { interpreter } = scripted([["stdout", `x${mark.slice(0, 2)}`]]);
    const call = interpreter.call("t");
    expect((await textsOf(call.process)).stdout).toBe(`x${mark.slice(0, 2)}`);
    expect(await call.process.exit).toEqual({ exitCode: 9 });
    expect(call.report()).toBeNull();
    expect(interpreter.isOver).toBe(true);
  });

  it.each([
    ["no length", `${mark}{}`],
    ["a length without an end", mark + "1".repeat(20)],
    ["more than is taken", `${mark}${maxReportBytes + 1}\n`],
    ["no JSON", `${mark}2\n{{`],
    ["another form", mark + reportOf({ exit_code: 300, displays: [], exception: null })],
    ["no exception", mark + reportOf({ exit_code: 1, displays: [], exception: { name: 1 } })],
    ["a name without bound", mark + reportOf({ ...good, exception: { ...exception, name: "E".repeat(401) } })],
    ["a message without bound", mark + reportOf({ ...good, exception: { ...exception, value: "v".repeat(8_001) } })],
    ["no traceback's length", mark + reportOf({ ...good, exception: { ...exception, traceback: "t".repeat(32_001) } })],
    ["no value's number", mark + reportOf({ ...good, displays: [{ ...good.displays[0], value: -1 }] })],
    ["an unknown type", mark + reportOf({ ...good, displays: [{ ...good.displays[0], media_type: "text/js" }] })],
  ])("whose report is %s ends its interpreter", async (_, text) => {
    const { interpreter, signals } = scripted([
      ["stderr", mark],
      ["stdout", `${text}${" ".repeat(12)}`],
    ]);
    const call = interpreter.call("t");
    await textsOf(call.process);
    expect(signals).toContain("SIGKILL");
    expect(call.report()).toBeNull();
  });

  it.each([
    ["standard output", "stdout", `${mark}${reportOf(good)}`],
    ["standard error", "stderr", mark],
  ] as const)(
    "that ends on %s alone, and goes on there, ends its interpreter before much is kept",
    async (_, stream, half) => {
      let written = 0;
      let isKilled = false;
      const { promise: exit, resolve } = Promise.withResolvers<ProcessExit>();
      const interpreter = new KeptInterpreter({
        stdin: new PassThrough(),
        output: (async function* () {
          yield { stream, bytes: bytes(half) };
          for (; !isKilled && written < 64; written += 1) yield { stream, bytes: Buffer.alloc(65_536, " ") };
          resolve({ exitCode: 137 });
        })(),
        exit,
        kill: () => {
          isKilled = true;
          return Promise.resolve();
        },
      });
      const call = interpreter.call("t");
      expect(await textsOf(call.process)).toEqual({ stdout: "", stderr: "" });
      expect(await call.process.exit).toEqual({ exitCode: 137 });
      expect([isKilled, interpreter.isOver, call.report()]).toEqual([true, true, null]);
      expect(written).toBeLessThan(20);
    },
  );

  it("that is killed kills its interpreter", async () => {
    const { interpreter, signals } = scripted([]);
    await interpreter.call("t").process.kill("SIGTERM");
    expect(signals).toEqual(["SIGTERM"]);
    expect(interpreter.isOver).toBe(true);
  });
});

it("a mark is held back no longer than it may be one", () => {
  const finder = new MarkFinder(bytes("abc"));
  expect(finder.take(bytes("xxab")).before.toString()).toBe("xx");
  expect(finder.take(bytes("ab")).before.toString()).toBe("ab");
  expect(finder.rest().toString()).toBe("ab");
  expect(finder.take(bytes("cd"))).toEqual({ before: bytes(""), behind: bytes("d") });
});

it("a report that comes byte by byte is joined once its length is known, and once when it is whole", () => {
  const whole = Buffer.concat([bytes(reportOf(good)), bytes("z")]);
  const concat = vi.spyOn(Buffer, "concat");
  try {
    const reader = new ReportReader();
    const read = [...whole.subarray(0, -1)].map((byte) => reader.take(Buffer.from([byte])));
    expect(read.slice(0, -1).every((each) => each === null)).toBe(true);
    expect(read.at(-1)).toMatchObject({ report: { exitCode: 3 } });
    expect(concat.mock.calls.length).toBeLessThan(6);
  } finally {
    concat.mockRestore();
  }
  expect(new ReportReader().take(whole)).toMatchObject({ behind: bytes("z") });
});

it("a report is read when all of it has come", () => {
  const whole = bytes(reportOf(good));
  for (let end = 0; end < whole.length; end += 1) expect(readReport(whole.subarray(0, end))).toBeNull();
  expect(readReport(Buffer.concat([whole, bytes("z")]))).toMatchObject({ behind: bytes("z") });
});
