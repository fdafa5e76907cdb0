import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { MemoryFile, MemoryFiles } from "./read-memory-files.ts";

/** Approximate characters of a passage. */
const maxLength = 1_000;
/** Maximum passages of one file; the rest is not searched. */
const maxPassages = 2_000;

/**
 * Splits a text into passages at headings and empty lines: short ones are merged, long ones split, each with its
 * heading.
 */
export function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  let heading = "";
  let open = "";
  const close = (): void => {
    if (open.trim() !== "" && passages.length < maxPassages) passages.push(open.trim());
    open = "";
  };
  for (const block of text.replaceAll("\r\n", "\n").split(/\n(?=#{1,6} )|\n[ \t]*\n/)) {
    const isHeading = /^#{1,6} /.test(block);
    if (isHeading) {
      close();
      heading = block.split("\n", 1)[0]?.slice(0, 200) ?? "";
    }
    for (let from = 0; from < block.length; from += maxLength) {
      const part = block.slice(from, from + maxLength);
      if (open.length + part.length > maxLength) {
        close();
        if (heading !== "" && !part.startsWith(heading)) open = `${heading}\n`;
      }
      open += `${part}\n`;
    }
  }
  close();
  return passages;
}

/** Words as in the index: stemmed and without accents. */
const tokenizer = "tokenize='porter unicode61 remove_diacritics 2'";
const version = 1;

/** Passages of the memory of one group, found by their words: SQLite's full-text index. */
export class MemoryIndex {
  readonly database: DatabaseSync;

  /**
   * Opens an index; a broken one is rebuilt, and `onRebuilt` called. Without a file it is in memory.
   * @throws SQLite's error
   */
  static open(file: string | null, onRebuilt: () => void): MemoryIndex {
    if (file === null) return new MemoryIndex(":memory:");
    try {
      return new MemoryIndex(file);
    } catch {
      for (const ending of ["", "-journal", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
      onRebuilt();
      return new MemoryIndex(file);
    }
  }

  private constructor(file: string) {
    const database = new DatabaseSync(file);
    try {
      database.exec("PRAGMA busy_timeout = 2000; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
      const found = database.prepare("PRAGMA user_version").get()?.["user_version"];
      if (found !== 0 && found !== version) throw new Error("an index of another form");
      database.exec(`
        CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT;
        CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(text, path UNINDEXED, ${tokenizer});
        CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5vocab(passages, instance);
        CREATE VIRTUAL TABLE temp.prompt USING fts5(text, ${tokenizer});
        CREATE VIRTUAL TABLE temp.asked USING fts5vocab(temp, prompt, row);
        PRAGMA user_version = ${version};
      `);
      // Damage shows up here, and not in the middle of a search.
      database.exec("INSERT INTO passages(passages) VALUES ('integrity-check')");
      database.prepare("SELECT count(*) FROM files").get();
    } catch (error) {
      database.close();
      throw error;
    }
    this.database = database;
  }

  /** Indexes what has changed since the last time. */
  update(files: MemoryFiles): void {
    const { database } = this;
    const stamps = new Map(
      database
        .prepare("SELECT path, stamp FROM files")
        .all()
        .map(({ path, stamp }) => [String(path), String(stamp)]),
    );
    const forget = (path: string): void => {
      database.prepare("DELETE FROM passages WHERE path = ?").run(path);
      database.prepare("DELETE FROM files WHERE path = ?").run(path);
    };
    const seen = new Set<string>();
    database.exec("BEGIN IMMEDIATE");
    try {
      for (const file of files()) {
        seen.add(file.path);
        if (stamps.get(file.path) === file.stamp) continue;
        forget(file.path);
        this.#add(file);
      }
      for (const path of stamps.keys()) if (!seen.has(path)) forget(path);
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }

  #add({ path, stamp, read }: MemoryFile): void {
    const text = read();
    if (text === null) return;
    const insert = this.database.prepare("INSERT INTO passages (text, path) VALUES (?, ?)");
    for (const passage of passagesOf(text)) insert.run(passage, path);
    this.database.prepare("INSERT INTO files (path, stamp) VALUES (?, ?)").run(path, stamp);
  }
}

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
