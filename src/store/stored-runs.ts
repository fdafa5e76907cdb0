import {
  findRun,
  findTestReport,
  listEndedRuns,
  readTail,
  type RunName,
  type RunsQuery,
  type StoredRun,
} from "./read-runs.ts";
import type { Database } from "./database.ts";
import type { StoreRecord } from "./store-record.ts";

/** What of the store they need. */
interface Records {
  add(record: StoreRecord): void;
  read<Result>(principal: string, work: (database: Database) => Promise<Result>): Promise<Result>;
}

/** The recorded runs, for those that ask for their results. */
export class StoredRuns {
  readonly #store: Records;

  constructor(store: Records) {
    this.#store = store;
  }

  /** Null: the principal has none of that id. @throws INTERNAL when the store does not answer */
  find(name: RunName): Promise<StoredRun | null> {
    return this.#store.read(name.principal, (database) => findRun(database, name));
  }

  /** Ended ones, the newest first. @throws INTERNAL when the store does not answer */
  listEnded(query: RunsQuery): Promise<readonly StoredRun[]> {
    return this.#store.read(query.principal, (database) => listEndedRuns(database, query));
  }

  /** The end of its output, at most 4096 bytes a stream. @throws INTERNAL when the store does not answer */
  tails(run: StoredRun): Promise<Readonly<Record<"stdout" | "stderr", string>>> {
    return this.#store.read(run.principal, async (database) => ({
      stdout: await readTail(database, run, "stdout"),
      stderr: await readTail(database, run, "stderr"),
    }));
  }

  /** The report of the tests in a sandbox, gzip in base64; null: none is kept. @throws INTERNAL when the store does not answer */
  testReport(name: RunName): Promise<string | null> {
    return this.#store.read(name.principal, (database) => findTestReport(database, name));
  }

  /** Its result is shown no more; the record stays for those who can read the database. */
  forget(run: RunName): void {
    this.#store.add({ kind: "run_forgotten", run });
  }
}
