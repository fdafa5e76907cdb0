import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TestModule, TestSpecification } from "vitest/node";
import ProgressReporter, { estimateMs } from "../scripts/progress-reporter.ts";

describe("what npm test says of its progress", () => {
  const lines: string[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    vi.stubGlobal("process", { ...process, stdout: { isTTY: false } });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    lines.length = 0;
  });
  const specifications = (count: number, name: string) =>
    Array.from({ length: count }, () => ({ project: { name } })) as unknown as TestSpecification[];

  it("begins with what will run and about how long it takes, and goes on with how far it is", () => {
    const reporter = new ProgressReporter();
    reporter.onTestRunStart([...specifications(300, "unit"), ...specifications(60, "docker")]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^\n360 files of tests \(unit 300, docker 60\): (?:about .*|less than a minute) on an idle/,
      ),
    ]);
    vi.advanceTimersByTime(20_000);
    expect(lines[1]).toMatch(/^… 0 of 360 files in 20 s, .* to go$/);
    const ends = (count: number, name: string): void => {
      for (let file = 0; file < count; file += 1) reporter.onTestModuleEnd({ project: { name } } as TestModule);
    };
    // The first file to end says nothing of the rest.
    ends(1, "unit");
    vi.advanceTimersByTime(20_000);
    expect(lines.at(-1)).toMatch(/^… 1 of 360 files in 40 s, about [1-4] minutes to go$/);
    ends(29, "unit");
    ends(6, "docker");
    vi.advanceTimersByTime(80_000);
    // A tenth in two minutes.
    expect(lines.at(-1)).toBe("… 36 of 360 files in 2 minutes, about 18 minutes to go");
    reporter.onTestRunEnd([]);
    const before = lines.length;
    vi.advanceTimersByTime(100_000);
    expect(lines).toHaveLength(before);
  });

  it("expects less of more cores, and most of what runs alone", () => {
    const files = new Map([
      ["docker", 40],
      ["alone", 3],
    ]);
    expect(estimateMs(files, 2)).toBe(170_000);
    expect(estimateMs(files, 4)).toBe(85_000);
    expect(estimateMs(new Map([["docker-rare", 40]]), 2)).toBeGreaterThan(estimateMs(new Map([["docker", 40]]), 2));
  });
});
