import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { SqliteAnswer, SqliteQuestion } from "./sqlite-thread.ts";

// The thread that a SQLite file is open in: a slow or hanging disk holds up this thread and nothing else.

/** How long another process that writes may hold this one up. */
const busyMs = 5_000;

const database = new DatabaseSync((workerData as { readonly file: string }).file, { timeout: busyMs });
// Set before the first table: what retention removes goes back to the file system.
database.exec("pragma auto_vacuum = incremental");
database.exec("pragma journal_mode = wal");
database.exec("pragma synchronous = normal");
database.exec("pragma foreign_keys = on");
// What a large transaction took beside the file is given back too.
database.exec(`pragma journal_size_limit = ${4 * 2 ** 20}`);

parentPort?.on("message", ({ id, sql, parameters }: SqliteQuestion) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer(id, sql, parameters)),
);

function answer(id: number, sql: string, parameters: SqliteQuestion["parameters"]): SqliteAnswer {
  try {
    const statement = database.prepare(sql);
    if (statement.columns().length > 0) return { id, rows: statement.all(...parameters).map((row) => ({ ...row })) };
    // Some do their work step by step, such as a page a step, and `run` takes one.
    if (/^pragma\b/i.test(sql)) {
      database.exec(sql);
      return { id, rows: [] };
    }
    const { changes } = statement.run(...parameters);
    return { id, rows: [], changes: BigInt(changes) };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}
