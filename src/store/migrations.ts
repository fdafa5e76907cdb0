import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

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
