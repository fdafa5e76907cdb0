/**
 * `node scripts/fuzz-egress.ts [--seconds N] [--seed S] [--case C]`: sends nonsense through the egress proxy from both
 * sides and reports what broke; the exit code is 1 if anything did. A finding names its case, which `--case` runs alone.
 */
import { parseArgs } from "node:util";
import { fuzzProxy } from "../test/security/egress/fuzz/fuzz-proxy.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string" }, seed: { type: "string" }, case: { type: "string" } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.case === undefined ? undefined : Number(values.case);
console.log(`seed ${seed}`);
let toldMs = 0;
const report = await fuzzProxy({
  seed,
  seconds: Number(values.seconds ?? 60),
  only,
  onProgress: (line) => {
    if (performance.now() - toldMs < 10_000) return;
    toldMs = performance.now();
    console.log(line);
  },
});
const { cases, seconds, forwarded, peakBytes, findings } = report;
console.log(
  `${cases} cases in ${seconds.toFixed(1)} s (${(cases / seconds).toFixed(0)} a second), ${forwarded} forwarded`,
);
console.log(`${Math.round(peakBytes / 1e6)} MB of memory at most`);
for (const finding of findings) console.log(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
