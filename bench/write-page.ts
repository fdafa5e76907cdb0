/** Writes docs/performance.md and its plots from bench/results: `node bench/write-page.ts`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plotsOf, withReport } from "./page/page.ts";
import type { BenchReport } from "./parts/report.ts";

const docs = join(import.meta.dirname, "../docs");
const report = JSON.parse(readFileSync(join(import.meta.dirname, "results/performance.json"), "utf8")) as BenchReport;
const page = join(docs, "performance.md");
writeFileSync(page, withReport(readFileSync(page, "utf8"), report));
const folder = join(docs, "performance");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, plot] of plotsOf(report)) writeFileSync(join(folder, name), plot);
