import { Kysely, sql, type Dialect } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "./migrations.ts";
import { postgresDialect } from "./postgres/postgres-dialect.ts";
import { sqliteDialect } from "./sqlite/sqlite-dialect.ts";
import type { Tables } from "./tables.ts";

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
