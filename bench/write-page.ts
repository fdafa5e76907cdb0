/** Writes docs/performance.md and its plots from bench/results: `node bench/write-page.ts`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plotsOf, withReports } from "./page/page.ts";
import type { BenchReport } from "./parts/report.ts";
import type { SoakReport } from "./soak/soak-report.ts";

const docs = join(import.meta.dirname, "../docs");
const resultOf = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, "results", `${name}.json`), "utf8"));
const report = resultOf("performance") as BenchReport;
const page = join(docs, "performance.md");
const soaks = {
  soak: resultOf("soak") as SoakReport,
  "soak-kubernetes": resultOf("soak-kubernetes") as SoakReport,
};
writeFileSync(page, withReports(readFileSync(page, "utf8"), report, soaks));
const folder = join(docs, "performance");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, plot] of plotsOf(report)) writeFileSync(join(folder, name), plot);
