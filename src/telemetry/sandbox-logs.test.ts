import { expect, it } from "vitest";
import type { ObservedSandbox } from "../sandbox/sandbox-observer.ts";
import { SandboxLogs, LineSplitter, type SplitLines } from "./sandbox-logs.ts";

it("loses the oldest of who holds most, and nothing of who holds less", () => {
  const logs = new SandboxLogs({ sinks: [], now: () => 0, monotonicMs: () => 0 });
  const run = (id: string, principal: string): void => {
    const sandbox = { id, output: { listen: () => undefined } };
    logs.sandboxOpened({ sandbox, kind: "execute", principal, engine: "local" } as unknown as ObservedSandbox);
    logs.sandboxRemoved(id);
  };
  run("small", "ann");
  // Logs of 1,000 ended sandboxes are held.
  for (let count = 0; count < 1_100; count += 1) run(`other-${count}`, "eve");
  expect(logs.find("small")).toBeDefined();
  expect(logs.find("other-0")).toBeUndefined();
  expect(logs.find("other-1099")).toBeDefined();
});

function split(...chunks: readonly Uint8Array[]): readonly SplitLines[] {
  const given: SplitLines[] = [];
  const splitter = new LineSplitter((lines) => given.push(lines));
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  for (const { text, count } of given) expect(text.split("\n")).toHaveLength(count);
  return given;
}

/** Each line with whether it goes on. */
function linesOf(given: readonly SplitLines[]): readonly (readonly [string, boolean])[] {
  return given.flatMap(({ text, partial }) => text.split("\n").map((line) => [line, partial] as const));
}

it("gives the same lines however their bytes come", () => {
  const text = Buffer.from(`one\r\n\ntwö 🧤\n${"é".repeat(20_000)}\nraw \r\r\nend`);
  const whole = linesOf(split(text));
  expect(whole.map(([line, partial]) => [line.length, partial])).toEqual([
    ...[
      [3, false],
      [0, false],
      [6, false],
    ],
    ...[
      [8_192, true],
      [8_192, true],
      [3_616, false],
    ],
    [5, false],
    [3, false],
  ]);
  for (const size of [1, 2, 3, 7, 16_384, 16_385]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.subarray(index * size, (index + 1) * size),
    );
    expect(linesOf(split(...pieces)), `pieces of ${size}`).toEqual(whole);
  }
});

it("gives out many lines together, within bounds of bytes and lines", () => {
  const short = split(Buffer.from("\n".repeat(2_500)));
  expect(short.map(({ count }) => count)).toEqual([1_000, 1_000, 500]);
  const long = split(Buffer.from(`${"x".repeat(999)}\n`.repeat(200)));
  expect(long.reduce((sum, { count }) => sum + count, 0)).toBe(200);
  expect(long.length).toBeLessThan(5);
  expect(Math.max(...long.map(({ text }) => text.length))).toBeLessThan(65_537);
});

it("counts the lines that it skips, and begins anew behind the last of them", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter(({ text }) => lines.push(text));
  splitter.write(Buffer.from("begun "));
  expect(splitter.skip(Buffer.from("and ended\ntwo\nthr"))).toBe(2);
  splitter.write(Buffer.from("ee\n"));
  expect(lines).toEqual(["three"]);
});
