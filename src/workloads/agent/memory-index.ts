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
