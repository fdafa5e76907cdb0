import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

type SqliteValue = string | number | bigint | null;

/** One statement for the thread. */
export interface SqliteQuestion {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly SqliteValue[];
}

/** What became of it. */
export type SqliteAnswer =
  | { readonly id: number; readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly changes?: bigint }
  | { readonly id: number; readonly problem: string };

/** What a statement gave. */
export interface SqliteResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly changes: bigint;
}

interface Waiting {
  readonly resolve: (result: SqliteResult) => void;
  readonly reject: (error: Error) => void;
}

/** A SQLite file, open in a thread of its own, so that no statement holds the event loop up. */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #ended: Error | null = null;

  constructor(file: string) {
    // Node 22 calls the module experimental, in the output of whatever program uses us.
    const execArgv = ["--disable-warning=ExperimentalWarning"];
    this.#worker = new Worker(entry(), { workerData: { file }, execArgv, env: {} });
    this.#worker.on("message", (answer: SqliteAnswer) => this.#take(answer));
    this.#worker.on("error", (error) => this.#end(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on("exit", () => this.#end(new Error("The thread of the database has ended.")));
    // Does not keep the event loop alive.
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** @throws the database's own words as an `Error` */
  run(sql: string, parameters: readonly unknown[]): Promise<SqliteResult> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<SqliteResult>();
    this.#waiting.set(id, { resolve, reject });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage({ id, sql, parameters });
    return promise;
  }

  async close(): Promise<void> {
    this.#end(new Error("The database is closed."));
    await this.#worker.terminate();
  }

  #take(answer: SqliteAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("problem" in answer) waiting?.reject(new Error(answer.problem));
    else waiting?.resolve({ rows: answer.rows, changes: answer.changes ?? 0n });
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function entry(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./sqlite-main.ts" : "./sqlite-main.js", import.meta.url));
}
