import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OutputScan } from "./preview.ts";

/** A clock of the test's own: nothing waits for a real one. */
let told: string[] = [];
let scan: OutputScan;
beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  const startMs = Date.now();
  const listener = { onError: ({ lines }: { lines: readonly string[] }) => void told.push(lines.join("|")) };
  scan = new OutputScan({ ...listener, onRecovery: () => void told.push("recovered") }, () => Date.now() - startMs);
});
afterEach(() => void vi.useRealTimers());

const write = (text: string): void => scan.write({ stream: "stderr", bytes: Buffer.from(text) });

describe("errors in the output of a preview are told of", () => {
  it("with the lines that come right after them", () => {
    write("ERROR in ./a.js 1:1\n");
    vi.advanceTimersByTime(100);
    write("Module parse failed\n");
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual(["ERROR in ./a.js 1:1|Module parse failed"]);
  });

  it("within two seconds, whatever the program goes on to print", () => {
    write("ERROR in ./a.js 1:1\n");
    for (let tenths = 0; tenths < 20; tenths += 1) {
      vi.advanceTimersByTime(100);
      write("asked for /\n");
    }
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^ERROR in \.\/a\.js 1:1\|asked for/);
  });

  it("one after another, each with its own time", () => {
    for (const name of ["a", "b"]) {
      write(`ERROR in ./${name}.js 1:1\nbroken\n`);
      vi.advanceTimersByTime(1_500);
    }
    expect(told).toEqual(["ERROR in ./a.js 1:1|broken", "ERROR in ./b.js 1:1|broken"]);
  });
});
