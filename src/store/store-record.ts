import type { Kysely } from "kysely";
import type { AlertRow, MetricsSampleRow, RunRow, Tables, TestReportRow } from "./tables.ts";
import type { Database } from "./database.ts";
import { forgetRun, type RunName } from "./read-runs.ts";

/** How a run ended, for its row. */
export type RunEndRow = Pick<
  RunRow,
  "id" | "ended_ms" | "outcome" | "exit_code" | "duration_ms" | "error_type" | "log_to"
>;

/** One thing to be written down, other than an entry of a log. */
export type StoreRecord =
  | {
      readonly kind: "run";
      readonly row: RunRow;
      readonly policy: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | { readonly kind: "run_end"; readonly row: RunEndRow }
  | { readonly kind: "run_forgotten"; readonly run: RunName }
  | { readonly kind: "sample"; readonly row: MetricsSampleRow }
  | { readonly kind: "alert"; readonly row: AlertRow }
  | { readonly kind: "test_report"; readonly row: TestReportRow };

/** Whether it tells of a run itself: without it the run would be unknown, or never end. */
export function isOfRun({ kind }: StoreRecord): boolean {
  return kind === "run" || kind === "run_end" || kind === "run_forgotten";
}

/** About what a record takes in memory, in bytes. */
export function recordBytes(record: StoreRecord): number {
  if (record.kind === "test_report") return 600 + record.row.size;
  return 600 + (record.kind === "run" ? 2 * JSON.stringify(record.labels).length : 0);
}

/** Writes records in their order, all or none; those that are there already stay as they are. */
export async function writeRecords({ tables }: Database, records: readonly StoreRecord[]): Promise<void> {
  await tables.transaction().execute(async (transaction) => {
    for (const record of records) await writeRecord(transaction, record);
  });
}

async function writeRecord(tables: Kysely<Tables>, record: StoreRecord): Promise<void> {
  switch (record.kind) {
    case "run": {
      const { policy_digest: digest } = record.row;
      await insert(tables, "policies", { digest, policy: record.policy });
      await insert(tables, "runs", record.row);
      for (const [name, value] of Object.entries(record.labels)) {
        await insert(tables, "run_labels", { run: record.row.id, name, value });
      }
      return undefined;
    }
    case "run_end": {
      const { id, ...end } = record.row;
      await tables
        .updateTable("runs")
        .set({ ...end, interrupted: 0 })
        .where("id", "=", id)
        .execute();
      return undefined;
    }
    case "run_forgotten":
      await forgetRun(tables, record.run);
      return undefined;
    case "sample":
      return insert(tables, "metrics_samples", record.row);
    case "alert":
      return insert(tables, "alerts", record.row);
    case "test_report":
      return insert(tables, "test_reports", record.row);
  }
}

async function insert<Name extends keyof Tables>(tables: Kysely<Tables>, name: Name, row: Tables[Name]): Promise<void> {
  await tables
    .insertInto(name)
    .values(row as never)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
