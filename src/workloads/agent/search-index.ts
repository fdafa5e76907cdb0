import type { MemoryIndex } from "./memory-index.ts";

export interface MemorySearch {
  readonly prompt: string;
  /** From 0 to 1. */
  readonly minRelevance: number;
  readonly maxCharacters: number;
}

/** Stop words. */
const emptyWords = new Set(
  (
    "a about all also am an and any are as at be been but by can could did do does for from get had has have he her him his how i if in " +
    "into is it its just let like make me more my no not now of on one or our out please she should so some than that the their " +
    "them then there these they this to too up us use was we were what when where which who why will with would you your " +
    "aber als am an auch auf aus bei bitte das dass dem den der des die doch du ein eine einen einer er es für hat haben ich ihr im in " +
    "ist ja kann kein man mein mir mit nach nicht noch nur oder sein sich sie sind so um und uns von vor war was wenn wer wie wir zu zum zur"
  ).split(" "),
);

/** Maximum characters and words of a prompt that are used. */
const maxPromptLength = 20_000;
const maxWords = 100;
const maxCandidates = 200;
/** Number of words that a passage must share with a long prompt for full relevance: the weight of the rarest ones. */
const wholeWords = 6;

interface Candidate {
  readonly id: number;
  readonly text: string;
  readonly path: string;
}

/**
 * The passages relevant to a prompt, within the budget, most relevant first; empty if none is relevant enough (SPEC
 * AG1).
 *
 * SQLite's rank (BM25) selects and orders candidates, but has no absolute scale. So relevance is the share of the
 * prompt's words that a passage contains, weighted by rarity, with words that occur nowhere weighing most.
 */
export function searchIndex(index: MemoryIndex, { prompt, minRelevance, maxCharacters }: MemorySearch): string {
  const words = wordsOf(prompt);
  if (words.length === 0) return "";
  const weights = weigh(index, words);
  const most = [...weights.values()]
    .map(({ weight }) => weight)
    .toSorted((one, other) => other - one)
    .slice(0, wholeWords)
    .reduce((sum, weight) => sum + weight, 0);
  const relevant = candidatesFor(index, words)
    .map((candidate) => ({ ...candidate, relevance: relevanceOf(candidate.id, weights) / most }))
    .filter(({ relevance }) => relevance > 0 && relevance >= minRelevance)
    .toSorted((one, other) => other.relevance - one.relevance);
  return withinBudget(relevant, maxCharacters);
}

function wordsOf(prompt: string): readonly string[] {
  const found =
    prompt
      .slice(0, maxPromptLength)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = new Set(found.filter((word) => word.length > 1 && word.length < 64 && !emptyWords.has(word)));
  return [...words].slice(0, maxWords);
}

type Weights = ReadonlyMap<string, { readonly weight: number; readonly passages: ReadonlySet<number> }>;

/** Each word, as in the index, with the passages that contain it. */
function weigh({ database }: MemoryIndex, words: readonly string[]): Weights {
  database.exec("DELETE FROM temp.prompt");
  database.prepare("INSERT INTO temp.prompt (text) VALUES (?)").run(words.join(" "));
  const count = Number(database.prepare("SELECT count(*) AS n FROM passages").get()?.["n"] ?? 0);
  const passagesWith = database.prepare("SELECT DISTINCT doc FROM words WHERE term = ?");
  const asked = database.prepare("SELECT term FROM temp.asked").all();
  return new Map(
    asked.map(({ term }) => {
      const passages = new Set(passagesWith.all(String(term)).map(({ doc }) => Number(doc)));
      return [String(term), { weight: Math.log(1 + count / Math.max(passages.size, 0.5)), passages }];
    }),
  );
}

function candidatesFor({ database }: MemoryIndex, words: readonly string[]): readonly Candidate[] {
  // Each consists of letters and digits; quoted, none of them is an operator.
  const match = words.map((word) => `"${word}"`).join(" OR ");
  const ranked = "SELECT rowid AS id, text, path FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?";
  return database
    .prepare(ranked)
    .all(match, maxCandidates)
    .map(({ id, text, path }) => ({ id: Number(id), text: String(text), path: String(path) }));
}

function relevanceOf(id: number, weights: Weights): number {
  return [...weights.values()].reduce((sum, { weight, passages }) => (passages.has(id) ? sum + weight : sum), 0);
}

/** Passages that no longer fit are left out entirely. */
function withinBudget(passages: readonly Candidate[], maxCharacters: number): string {
  let context = "";
  for (const { path, text } of passages) {
    const part = `${context === "" ? "" : "\n\n"}From ${path}:\n${text}`;
    if (context.length + part.length <= maxCharacters) context += part;
  }
  return context;
}
