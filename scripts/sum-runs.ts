// Prints the summed results of the runs that are recorded in a file: `node scripts/sum-runs.ts FILE RUNS`.
import { summaryLines, sumSummaries } from "./run-summary.ts";

const [file = "", runs = "1"] = process.argv.slice(2);
const summary = sumSummaries(file, Number(runs));
for (const line of summaryLines(summary)) console.log(line);
process.exitCode = summary.failed > 0 ? 1 : 0;
