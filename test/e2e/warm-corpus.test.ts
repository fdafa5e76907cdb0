import { describe, expect, it } from "vitest";
import { bombFault } from "../helpers/bomb-fault.ts";
import { corpusPresent, languages, readSnippets, runSnippets } from "../helpers/corpus.ts";
import { engines } from "../helpers/open-glovebox.ts";
import { corpusBombs, corpusProbes } from "../helpers/probes.ts";
import { skipOrFail } from "../helpers/require.ts";
import { useWarmGlovebox } from "../helpers/warm-glovebox.ts";

describe.each(engines)("in sandboxes that waited, on %s,", { timeout: 600_000 }, (engine) => {
  const warm = useWarmGlovebox({ engine, runtime: {} });

  it.for(languages)("real programs give their known verdicts: %s", async (language, context) => {
    if (!corpusPresent) skipOrFail(context, "corpus", "../shared/corpus is not there");
    const snippets = readSnippets(language);
    expect(snippets.length).toBeGreaterThanOrEqual(100);
    // One at a time: each takes the one sandbox that waits.
    const verdicts = await runSnippets((request) => warm().run(request), snippets, 1);
    expect(verdicts).toHaveLength(snippets.length);
    expect(
      verdicts.flatMap(({ snippet, difference }) => (difference === null ? [] : [`${snippet.id}: ${difference}`])),
    ).toEqual([]);
  });

  it("every probe is blocked", async (context) => {
    if (!corpusPresent) skipOrFail(context, "corpus", "../shared/corpus is not there");
    const probes = corpusProbes();
    expect(probes.length).toBeGreaterThanOrEqual(40);
    const escaped: string[] = [];
    for (const { id, code } of probes) {
      const { stdout } = await warm().run({ language: "python", code });
      if (!stdout.startsWith("BLOCKED")) escaped.push(`${id}: ${stdout}`);
    }
    expect(escaped).toEqual([]);
  });

  it("every bomb ends as it must", async (context) => {
    if (!corpusPresent) skipOrFail(context, "corpus", "../shared/corpus is not there");
    const bombs = corpusBombs();
    expect(bombs.length).toBeGreaterThanOrEqual(25);
    const faults: string[] = [];
    for (const bomb of bombs) {
      const fault = await bombFault(bomb, (request) => warm().run(request));
      if (fault !== null) faults.push(`${bomb.id}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
