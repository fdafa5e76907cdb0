/**
 * `npm run soak`: mixed work through real servers while everything under them fails, and a check of what is left at the end.
 *
 * It starts all the engines, databases, file systems and servers itself; it needs root. It prints what happens, writes
 * bench/results/soak.json, and exits with 1 when anything did not hold: each request ends exactly once and honestly, nothing
 * is left on the engines, and memory and descriptors of the servers are within 10 % of what they were after a warm-up
 * round. `node bench/write-page.ts` puts the report into docs/performance.md.
 * Usage: npm run soak [-- [--minutes NUMBER] [--engines ENGINE,...] [--out FILE]]; default 60 minutes, docker,podman,local.
 * `--engines kubernetes` takes the test bed's cluster (GLOVEBOX_TEST_KUBECONFIG) for itself, kills its parts and the servers too, and
 * writes bench/results/soak-kubernetes.json.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setup } from "../test/lanes/bundled-command.ts";
import { benchImages } from "./parts/images.ts";
import { machineFacts, versionFacts } from "./parts/machine.ts";
import type { SoakReport } from "./soak/soak-report.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    engines: { type: "string", default: "docker,podman,local" },
    out: { type: "string" },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, got ${values.minutes}.`);

await setup();
const { runSoak } = await import("./soak/run-soak.ts");
const plan = {
  isQuick: false,
  engines: values.engines.split(","),
  images: benchImages(process.env),
  say: (text: string) => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`),
};
const found = await runSoak(plan, minutes * 60_000);
const report: SoakReport = {
  minutes,
  date: new Date().toISOString().slice(0, 10),
  machine: machineFacts(),
  versions: await versionFacts(),
  ...found,
};
const name = values.engines === "kubernetes" ? "soak-kubernetes" : "soak";
writeFileSync(values.out ?? join(import.meta.dirname, `results/${name}.json`), `${JSON.stringify(report, null, 2)}\n`);
console.log(JSON.stringify(found, null, 2));
if (found.problems.length > 0) process.exitCode = 1;
