import { PostgresDialect, type Dialect } from "kysely";
import type Pg from "pg";
import { GloveboxError } from "../../errors/glovebox-error.ts";

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
export function postgresDialect(url: string, onProblem: (error: Error) => void): Dialect {
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
