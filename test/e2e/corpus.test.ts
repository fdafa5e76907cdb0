import { describe, expect, it } from "vitest";
import { corpusPresent, languages, readSnippets, runSnippets } from "../helpers/corpus.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { skipOrFail } from "../helpers/require.ts";

describe.each(engines)("real programs on %s", (engine) => {
  const glovebox = useGlovebox(engine);

  it.for(languages)("give their known verdicts: %s", { timeout: 600_000 }, async (language, context) => {
    if (!corpusPresent) skipOrFail(context, "corpus", "../shared/corpus is not there");
    const snippets = readSnippets(language);
    expect(snippets.length).toBeGreaterThanOrEqual(100);
    const verdicts = await runSnippets((request) => glovebox().execute({ ...request, engine }), snippets);
    expect(verdicts).toHaveLength(snippets.length);
    expect(
      verdicts.flatMap(({ snippet, difference }) => (difference === null ? [] : [`${snippet.id}: ${difference}`])),
    ).toEqual([]);
  });
});
