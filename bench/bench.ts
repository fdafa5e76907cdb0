/**
 * `npm run bench`: what Glovebox costs compared with what one would do without it, measured side by side in one run.
 *
 * Prints each table as it is done, then writes all of it to bench/results/performance.json, from which
 * `node bench/write-page.ts` makes docs/performance.md and its plots. Read the ratios: milliseconds are one machine's.
 * Usage: npm run bench [-- [--quick] [--only MEASURE,...] [--engines ENGINE,...] [--out FILE]]
 *   --quick    a few rounds of everything, in about 3 minutes
 *   --only     these measures; the file keeps its results of the others
 *   --engines  default docker,podman,local; what does not answer is left out and named
 * Images by GLOVEBOX_IMAGE_PYTHON, _JAVASCRIPT, _TYPESCRIPT and _SESSION.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PackedPackage } from "../test/package/packed-package.ts";
import { benchImages } from "./parts/images.ts";
import { firstLine } from "./parts/in-turn.ts";
import { machineFacts, versionFacts } from "./parts/machine.ts";
import { tableOf } from "./parts/print.ts";
import type { BenchPlan, BenchReport, Measure, Measured } from "./parts/report.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    engines: { type: "string", default: "docker,podman,local" },
    out: { type: "string", default: join(import.meta.dirname, "results/performance.json") },
  },
});

// The user's own settings are ignored, and nothing is left in their folders.
const home = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]) process.env[name] = join(home, name);
process.env["GLOVEBOX_PACKAGES_DIR"] = join(home, "packages");
process.env["LOG_LEVEL"] ??= "error";

// Commands are measured as they are published, with the code that V8 keeps compiled. What starts them reads this when it is loaded.
using installed = new PackedPackage();
const command = join(home, "glovebox");
writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(installed.folder, "dist/cli/main.js")}' "$@"\n`);
chmodSync(command, 0o755);
process.env["GLOVEBOX_TEST_COMMAND"] = command;
const { measures } = await import("./measures/table.ts");

async function take(measure: Measure, plan: BenchPlan): Promise<Measured> {
  const { take: begin, ...facts } = measure;
  const startedMs = performance.now();
  console.log(`\n# ${facts.title} (${facts.name})`);
  const found = await begin(plan).catch((error: unknown) => ({
    rows: [],
    leftOut: [{ name: facts.title, reason: firstLine(error) }],
  }));
  const measured = { ...facts, ...found };
  console.log(tableOf(measured));
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  return measured;
}

/** What an earlier run of the same form left in the file, which measures that are not taken now are kept from. */
function earlier(): BenchReport | null {
  if (values.only === undefined || !existsSync(values.out)) return null;
  const report = JSON.parse(readFileSync(values.out, "utf8")) as BenchReport;
  return report.form === (values.quick ? "quick" : "full") ? report : null;
}

try {
  const names = values.only?.split(",") ?? measures.map(({ name }) => name);
  const unknown = names.filter((name) => !measures.some((measure) => measure.name === name));
  if (unknown.length > 0) {
    throw new Error(`--only: ${unknown.join(", ")} is none of ${measures.map(({ name }) => name).join(", ")}.`);
  }
  const plan: BenchPlan = {
    isQuick: values.quick,
    engines: values.engines.split(","),
    images: benchImages(process.env),
    say: (text) => void process.stderr.write(`${text}\n`),
  };
  const before = earlier();
  const taken = (before?.measures ?? []).filter(({ name }) => !names.includes(name));
  const date = new Date().toISOString().slice(0, 10);
  for (const measure of measures.filter(({ name }) => names.includes(name))) {
    const apart = { date, machine: machineFacts(), load: Math.round(loadavg()[1] ?? 0) };
    taken.push({ ...(await take(measure, plan)), ...(before === null ? {} : { apart }) });
  }
  const order = measures.map(({ name }) => name);
  const report: BenchReport = {
    form: values.quick ? "quick" : "full",
    date: before?.date ?? date,
    machine: before?.machine ?? machineFacts(),
    versions: before?.versions ?? (await versionFacts()),
    measures: taken.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  };
  writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
