import { expect, it } from "vitest";
import { fuzzProxy } from "./fuzz/fuzz-proxy.ts";

const seed = Number(process.env["GLOVEBOX_TEST_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(process.env["GLOVEBOX_TEST_FUZZ_SECONDS"] ?? 30);

it(
  "the egress proxy stands half a minute of nonsense from both sides (GLOVEBOX_TEST_FUZZ_SEED repeats it)",
  { timeout: (seconds + 60) * 1000, retry: 0 },
  async () => {
    console.log(`fuzzing the egress proxy with seed ${seed}`);
    const report = await fuzzProxy({ seed, seconds });
    console.log(
      `${report.cases} cases, ${report.forwarded} forwarded, ${Math.round(report.peakBytes / 1e6)} MB at most`,
    );
    expect({ seed, findings: report.findings }).toEqual({ seed, findings: [] });
    expect(report.cases).toBeGreaterThan(100);
    expect(report.forwarded).toBeGreaterThan(20);
  },
);
