import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { Turns } from "../../base/turns.ts";
import { makeOwnFile } from "./make-own-file.ts";
import { SqliteThread } from "./sqlite-thread.ts";

/** Kysely over `node:sqlite`: one connection, in a thread of its own, used by one transaction at a time. */
export function sqliteDialect(file: string): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new SqliteDriver(file),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * SQLite can change tables in a transaction: if a server dies in the middle, they stay as they were, and of two that
 * start at the same time one waits for the other.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #file: string;
  #connection: SqliteConnection | undefined;
  readonly #turns = new Turns();
  #release: () => void = () => undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {
    this.#connection = await this.#connect();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const release = await this.#turns.take();
    this.#release = release;
    try {
      // What ended it, such as a file that could not be opened, may be over.
      if (this.#connection?.hasEnded !== false) this.#connection = await this.#connect();
      return this.#connection;
    } catch (error) {
      release();
      throw error;
    }
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // The only writer from here on: a reader that becomes one later could be refused.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw("rollback"));
    } catch (error) {
      // After some errors, a full disk among them, SQLite has done it by itself.
      if (!(error instanceof Error && error.message.includes("no transaction is active"))) throw error;
    }
  }

  releaseConnection(): Promise<void> {
    this.#release();
    return Promise.resolve();
  }

  async destroy(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }

  async #connect(): Promise<SqliteConnection> {
    await makeOwnFile(this.#file);
    return new SqliteConnection(new SqliteThread(this.#file));
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  get hasEnded(): boolean {
    return this.#thread.hasEnded;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes } = await this.#thread.run(sql, parameters);
    return { rows: rows as Row[], numAffectedRows: changes };
  }

  // oxlint-disable-next-line require-yield -- nothing asks for one
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("Rows are read in pages.");
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
