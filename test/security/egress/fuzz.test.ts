import { expect, it } from "vitest";
import { fuzzProxy } from "./fuzz/fuzz-proxy.ts";

const seed = Number(process.env["GLOVEBOX_TEST_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(process.env["GLOVEBOX_TEST_FUZZ_SECONDS"] ?? 30);

it(
  "the egress proxy stands half a minute of nonsense from both sides (GLOVEBOX_TEST_FUZZ_SEED repeats it)",
  { timeout: (seconds + 60) * 1000, retry: 0 },
  async () => {
    process.stdout.write(`fuzzing the egress proxy with seed ${seed}\n`);
    const { cases, forwarded, peakBytes, findings } = await fuzzProxy({ seed, seconds });
    process.stdout.write(`${cases} cases, ${forwarded} forwarded, ${Math.round(peakBytes / 1e6)} MB at most\n`);
    expect({ seed, findings }).toEqual({ seed, findings: [] });
    expect(cases).toBeGreaterThan(100);
    expect(forwarded).toBeGreaterThan(20);
  },
);
