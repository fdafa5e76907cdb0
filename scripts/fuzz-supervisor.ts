/** `node scripts/fuzz-supervisor.ts [--seconds N] [--seed S]`: sends nonsense to the supervisor; exit code 1 if anything broke. */
import { parseArgs } from "node:util";
import { fuzzSupervisor } from "../test/helpers/supervisor/fuzz.ts";

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
console.log(`seed ${seed}`);
const { cases, codes, findings } = await fuzzSupervisor({ seed, seconds: Number(values.seconds ?? 60) });
console.log(`${cases} inputs; how many ended with which code: ${JSON.stringify(codes)}`);
for (const finding of findings) console.log(finding);
console.log(`${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
