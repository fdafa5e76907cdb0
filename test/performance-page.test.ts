import { readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { measures } from "../bench/measures/table.ts";
import { isOutdated, plotsOf, withReports } from "../bench/page/page.ts";
import { isMet, targets } from "../bench/page/targets.ts";
import type { BenchReport } from "../bench/parts/report.ts";
import { growthOf, type SoakReport } from "../bench/soak/soak-report.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (...parts: readonly string[]): string => readFileSync(join(projectFolder, ...parts), "utf8");
const text = read("bench", "results", "performance.json");
const report = JSON.parse(text) as BenchReport;
const soakTexts = ["soak", "soak-kubernetes"].map((name) => read("bench", "results", `${name}.json`));
const [soak, onCluster] = soakTexts.map((each) => JSON.parse(each) as SoakReport);

describe("docs/performance.md", () => {
  it("says what the kept figures say", () => {
    const page = read("docs", "performance.md");
    expect(page, "stale: run node bench/write-page.ts").toBe(
      withReports(page, report, { soak: soak!, "soak-kubernetes": onCluster! }),
    );
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
  it.each([text, ...soakTexts])("name neither the machine nor its folders", (kept) => {
    expect(kept).not.toContain(`"${os.hostname()}`);
    expect(kept).not.toMatch(/\/(home|root|tmp|var|work|usr)\//);
  });

  it("say on what, when and with which versions they were measured", () => {
    expect(report.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(report.machine.cores).toBeGreaterThan(0);
    expect(Object.keys(report.versions)).toEqual(expect.arrayContaining(["glovebox", "node"]));
  });

  it("have a row for each target, except where they were taken in another way than now", () => {
    const taken = report.measures.filter((measured) => !isOutdated(measured)).map(({ name }) => name);
    expect(taken.length).toBeGreaterThan(0);
    const decided = targets.filter(({ measure }) => taken.includes(measure));
    expect(decided.length).toBeGreaterThan(0);
    expect(decided.filter((target) => isMet(target, report) === null).map(({ what }) => what)).toEqual([]);
  });

  it("are of measures that there are", () => {
    const names = measures.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...new Set(targets.map(({ measure }) => measure))]));
  });
});

describe("what a soak counts as growth", () => {
  const before = { residentMb: 100, descriptors: 50 };

  it.each([
    [{ residentMb: 110, descriptors: 55 }, 0],
    [{ residentMb: 111, descriptors: 10 }, 1],
    [{ residentMb: 111, descriptors: 56 }, 2],
  ])("is more than a tenth: %j", (after, count) => {
    expect(growthOf({ server: "one", before, after })).toHaveLength(count);
  });
});
