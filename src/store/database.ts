import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import {
  Kysely,
  sql,
  PostgresDialect,
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Dialect,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import type { Tables } from "./tables.ts";
import type Pg from "pg";
import { Turns } from "../base/turns.ts";
import { SqliteThread } from "./sqlite-thread.ts";

/** Windows has none. */
const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants> & typeof constants;

/** Where the database is: a file of SQLite's, or a PostgreSQL by its URL, which may hold a password. */
export type StorePlace =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string };

/** Both databases write in one statement what they are given as one JSON text. */
export interface Database {
  readonly kind: StorePlace["kind"];
  readonly tables: Kysely<Tables>;
}

/** Nothing is opened yet. `onProblem` hears of connections that broke while nothing used them. */
export function makeDatabase(place: StorePlace, onProblem: (error: Error) => void): Database {
  const dialect: Dialect = place.kind === "sqlite" ? sqliteDialect(place.file) : postgresDialect(place.url, onProblem);
  return { kind: place.kind, tables: new Kysely<Tables>({ dialect }) };
}

/** Opens the database and brings its tables up to today's. @throws what the database says, a newer one's tables included */
export async function migrate({ tables }: Database): Promise<void> {
  const migrator = new Migrator({ db: tables, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error("The tables could not be brought up to date.", { cause: error });
}

/** @throws when the database does not answer */
export async function ping({ tables }: Database): Promise<void> {
  await sql`select 1`.execute(tables);
}

/**
 * Whether a row itself is what the database refuses (PostgreSQL's classes 22 and 23, SQLite's words for the same), so that
 * trying again is of no use.
 */
export function refusesRow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return /^2[23]...$/.test(code) || /constraint failed|malformed JSON|too big|datatype mismatch/i.test(error.message);
}

/** The steps from an empty database to today's tables, in the order of their names; one that was released never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
  "001-first-tables": { up: firstTables },
  "002-labels-and-results": { up: labelsAndResults },
  "003-test-reports": { up: testReports },
  "004-entries-of-principals": { up: entriesOfPrincipals },
  "005-names-and-work": { up: namesAndWork },
};

async function firstTables(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable("servers")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("beats", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("policies")
    .addColumn("digest", "text", (column) => column.primaryKey())
    .addColumn("policy", "text", (column) => column.notNull())
    .execute();
  await createRuns(database);
  await schema
    .createTable("log_entries")
    .addColumn("sandbox", "text", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("stamp_ms", "bigint", (column) => column.notNull())
    .addColumn("stream", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("partial", "integer", (column) => column.notNull())
    .addColumn("dropped", "bigint", (column) => column.notNull())
    .addColumn("bytes", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("log_entries_key", ["sandbox", "position"])
    .execute();
  await schema.createIndex("log_entries_age").on("log_entries").columns(["stamp_ms", "bytes"]).execute();
  await createMeasures(database);
}

async function createRuns({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("runs")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("server", "text", (column) => column.notNull())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("engine", "text", (column) => column.notNull())
    .addColumn("sandbox", "text", (column) => column.notNull())
    .addColumn("session", "text")
    .addColumn("environment", "text")
    .addColumn("policy_digest", "text", (column) => column.notNull())
    .addColumn("started_ms", "bigint", (column) => column.notNull())
    .addColumn("ended_ms", "bigint")
    .addColumn("outcome", "text")
    .addColumn("exit_code", "integer")
    .addColumn("duration_ms", "bigint")
    .addColumn("error_type", "text")
    .addColumn("interrupted", "integer", (column) => column.notNull())
    .execute();
  await schema.createIndex("runs_open").on("runs").columns(["server", "ended_ms"]).execute();
  await schema.createIndex("runs_age").on("runs").columns(["ended_ms", "policy_digest"]).execute();
}

async function createMeasures({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("metrics_samples")
    .addColumn("sandbox", "text", (column) => column.notNull())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("stamp_ms", "bigint", (column) => column.notNull())
    .addColumn("cpu_percent", "double precision")
    .addColumn("memory_mb", "double precision")
    .addColumn("network_rx_bytes", "bigint")
    .addColumn("network_tx_bytes", "bigint")
    .addColumn("disk_read_bytes", "bigint")
    .addColumn("disk_write_bytes", "bigint")
    .addColumn("uptime_seconds", "double precision", (column) => column.notNull())
    .addPrimaryKeyConstraint("metrics_samples_key", ["sandbox", "stamp_ms"])
    .execute();
  await schema.createIndex("metrics_samples_age").on("metrics_samples").column("stamp_ms").execute();
  await schema
    .createTable("alerts")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("sandbox", "text", (column) => column.notNull())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("stamp_ms", "bigint", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("value", "double precision", (column) => column.notNull())
    .addColumn("threshold", "double precision", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("suggestion", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("alerts_age").on("alerts").column("stamp_ms").execute();
}

async function labelsAndResults({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("runs").addColumn("log_from", "bigint").execute();
  await schema.alterTable("runs").addColumn("log_to", "bigint").execute();
  await schema
    .alterTable("runs")
    .addColumn("forgotten", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.createIndex("runs_of_sandbox").on("runs").column("sandbox").execute();
  await schema.createIndex("runs_of_principal").on("runs").columns(["principal", "started_ms"]).execute();
  await schema
    .createTable("run_labels")
    .addColumn("run", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("run_labels_key", ["run", "name"])
    .execute();
  await schema.createIndex("run_labels_value").on("run_labels").columns(["name", "value"]).execute();
}

async function testReports({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("test_reports")
    .addColumn("sandbox", "text", (column) => column.primaryKey())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("stamp_ms", "bigint", (column) => column.notNull())
    .addColumn("report", "text", (column) => column.notNull())
    .addColumn("size", "integer", (column) => column.notNull())
    .execute();
  await schema.createIndex("test_reports_age").on("test_reports").columns(["stamp_ms", "size"]).execute();
}

/** Whoever has most gives way: what each has is counted by this, and found by age. */
async function entriesOfPrincipals({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex("log_entries_of_principal")
    .on("log_entries")
    .columns(["principal", "stamp_ms", "bytes"])
    .execute();
}

/** What lists say of a run. */
async function namesAndWork({ schema }: Kysely<unknown>): Promise<void> {
  for (const column of ["name", "work", "image"]) {
    await schema.alterTable("runs").addColumn(column, "text").execute();
  }
}

/** Maximum connections of one server: one writes, the others read. */
const maxConnections = 4;
/** How long connecting, and then a statement, may take. */
const connectMs = 5_000;
const statementMs = 60_000;
/** PostgreSQL's number of the type `bigint`. */
const bigintType = "20";

/**
 * Kysely over PostgreSQL; nothing is connected yet. Errors of idle connections are reported to `onProblem`.
 * @throws UNSUPPORTED when the package `pg` is not installed
 */
function postgresDialect(url: string, onProblem: (error: Error) => void): Dialect {
  return new PostgresDialect({
    pool: async () => {
      const { Pool, types } = await loadPg();
      const pool = new Pool({
        connectionString: url,
        max: maxConnections,
        connectionTimeoutMillis: connectMs,
        statement_timeout: statementMs,
        query_timeout: statementMs,
        idleTimeoutMillis: 30_000,
        allowExitOnIdle: true,
        application_name: "glovebox",
        // Ours are times and counts, all of them below 2^53.
        types: {
          getTypeParser: (id, format) =>
            (String(id) === bigintType ? Number : types.getTypeParser(id, format)) as never,
        },
      });
      pool.on("error", onProblem);
      // The pool hears those that idle only. One that breaks while it is lent fails the next that is asked of it; an event
      // that nothing listens to would end the process.
      pool.on("connect", (client) => void client.on("error", () => undefined));
      return pool;
    },
  });
}

/** @throws UNSUPPORTED */
async function loadPg(): Promise<typeof Pg> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    throw new GloveboxError("UNSUPPORTED", "A store in PostgreSQL needs the package pg, which is not installed.", {
      suggestion: "Install it beside glovebox (`npm install pg`), or keep the store in SQLite (GLOVEBOX_STORE=sqlite).",
      cause: error,
    });
  }
}

/** Kysely over `node:sqlite`: one connection, in a thread of its own, used by one transaction at a time. */
function sqliteDialect(file: string): Dialect {
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

/**
 * Creates the file for this user only, or removes others' access to an existing one; SQLite gives the files next to it
 * the same mode.
 * @throws an `Error` when it is a link or no file, and Node's own
 */
async function makeOwnFile(file: string): Promise<void> {
  try {
    await using handle = await open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    if (!(await handle.stat()).isFile()) throw new Error("What stands at the database's path is not a file.");
    await handle.chmod(0o600);
  } catch (error) {
    if (errorCode(error) === "ELOOP")
      throw new Error("What stands at the database's path is a link.", { cause: error });
    throw error;
  }
}
