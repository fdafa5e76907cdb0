import { readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plotsOf, withReport } from "../bench/page/page.ts";
import { isMet, targets } from "../bench/page/targets.ts";
import type { BenchReport } from "../bench/parts/report.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (...parts: readonly string[]): string => readFileSync(join(projectFolder, ...parts), "utf8");
const text = read("bench", "results", "performance.json");
const report = JSON.parse(text) as BenchReport;

describe("docs/performance.md", () => {
  it("says what the kept figures say", () => {
    const page = read("docs", "performance.md");
    expect(page, "stale: run node bench/write-page.ts").toBe(withReport(page, report));
  });

  it("has the plots of the kept figures, and no others", () => {
    const plots = plotsOf(report);
    expect(plots.size).toBeGreaterThan(0);
    expect(readdirSync(join(projectFolder, "docs", "performance")).toSorted()).toEqual([...plots.keys()].toSorted());
    for (const [name, plot] of plots) {
      expect(read("docs", "performance", name), "stale: run node bench/write-page.ts").toBe(plot);
    }
  });
});

describe("the kept figures", () => {
  it("name neither the machine nor its folders", () => {
    expect(text).not.toContain(os.hostname());
    expect(text).not.toMatch(/\/(home|root|tmp|var|work|usr)\//);
  });

  it("tell on what, when and with which versions they were measured", () => {
    expect(report.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(report.machine.cores).toBeGreaterThan(0);
    expect(Object.keys(report.versions)).toEqual(expect.arrayContaining(["glovebox", "node"]));
  });

  it("have a row for each target that is not one of warm sandboxes", () => {
    const cold = targets.filter(({ what }) => !what.includes("arm "));
    expect(cold.length).toBeGreaterThan(0);
    expect(cold.filter((target) => isMet(target, report) === null).map(({ what }) => what)).toEqual([]);
  });
});
