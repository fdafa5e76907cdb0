import { beforeAll, describe, expect, it } from "vitest";
import { fuzzedSupervisor, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { fuzzSupervisor, readCorpus } from "../helpers/supervisor/fuzz.ts";

const reason = whyNoSupervisor();

describe.skipIf(reason !== undefined)(`nonsense ${reason ?? ""}`, () => {
  beforeAll(() => void fuzzedSupervisor(), 180_000);

  // Longer, and with other numbers: node scripts/fuzz-supervisor.ts
  it("only ever ends the supervisor, with a code of its own and nothing for a sanitizer to say", async () => {
    const { cases, codes, findings } = await fuzzSupervisor({ seed: 20_261_127, seconds: 6 });
    expect(findings).toEqual([]);
    expect(cases).toBeGreaterThan(readCorpus().length);
    // Some were taken to their end, others were nonsense: the inputs are neither all good nor all bad.
    expect(Object.keys(codes).length).toBeGreaterThan(1);
  });
});
