import type { Expression, ExpressionBuilder, Kysely, SqlBool } from "kysely";
import type { Database } from "./database.ts";
import type { RunRow, Tables, AlertRow, MetricsSampleRow, TestReportRow } from "./tables.ts";

/** A run as its principal names it: by its own id, or by that of the sandbox that was made for it alone. */
export interface RunName {
  readonly id: string;
  /** Others' runs are not found. */
  readonly principal: string;
}

/** Which runs are wanted. */
export interface RunsQuery {
  readonly principal: string;
  /** Those that have all of these labels, as names and values. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
}

/** A run with what its caller had marked it with. */
export interface StoredRun extends RunRow {
  /** The id by which its caller knows it. */
  readonly toldId: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The kinds of runs that have their sandbox for themselves. */
const ownSandboxKinds: readonly string[] = ["execute", "test"];
/** Bytes of a stream's end that are shown, and how far back it is looked for: entries of the whole log. */
const tail = { bytes: 4_096, entries: 20_000, page: 64 } as const;

/** Null: none, or one that its principal has removed. */
export async function findRun({ tables }: Database, name: RunName): Promise<StoredRun | null> {
  // No id of ours holds one, and PostgreSQL refuses to compare it.
  if (name.id.includes("\0")) return null;
  const found = await tables.selectFrom("runs").selectAll().where(isNamed(name)).where("forgotten", "=", 0).execute();
  const [run = null] = await withLabels(tables, found);
  return run;
}

/** Ended runs, the newest first. */
export async function listEndedRuns({ tables }: Database, query: RunsQuery): Promise<readonly StoredRun[]> {
  let select = tables
    .selectFrom("runs")
    .selectAll()
    .where("principal", "=", query.principal)
    .where("ended_ms", "is not", null)
    .where("forgotten", "=", 0)
    .orderBy("started_ms", "desc")
    .orderBy("id")
    .limit(query.limit);
  for (const [name, value] of query.labels) {
    select = select.where("id", "in", (labels) =>
      labels.selectFrom("run_labels").select("run").where("name", "=", name).where("value", "=", value),
    );
  }
  return withLabels(tables, await select.execute());
}

/** The report of a sandbox's tests, as its row has it; null: none is kept. */
export async function findTestReport({ tables }: Database, { id, principal }: RunName): Promise<string | null> {
  if (id.includes("\0")) return null;
  const row = await tables
    .selectFrom("test_reports")
    .select("report")
    .where("sandbox", "=", id)
    .where("principal", "=", principal)
    .executeTakeFirst();
  return row?.report ?? null;
}

/** The end of what a run wrote, as far as it is stored: whole lines of its sandbox's log, at most 4096 bytes. */
export async function readTail({ tables }: Database, run: StoredRun, stream: "stdout" | "stderr"): Promise<string> {
  const { sandbox, principal, log_from: from, log_to: to } = run;
  if (from === null) return "";
  const end = to ?? (await nextPosition(tables, sandbox));
  const first = Math.max(from, end - tail.entries);
  let text = Buffer.alloc(0);
  let before = end;
  while (text.length < tail.bytes) {
    const entries = await tables
      .selectFrom("log_entries")
      .select(["position", "message", "partial"])
      .where("sandbox", "=", sandbox)
      .where("principal", "=", principal)
      .where("position", ">=", first)
      .where("position", "<", before)
      .where("stream", "=", stream)
      .where("dropped", "=", 0)
      .orderBy("position", "desc")
      .limit(tail.page)
      .execute();
    const lines = entries.toReversed().map(({ message, partial }) => `${message}${partial === 1 ? "" : "\n"}`);
    text = Buffer.concat([Buffer.from(lines.join("")), text]);
    before = entries.at(-1)?.position ?? first;
    if (entries.length < tail.page) break;
  }
  return lastCharacters(text);
}

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

/** The run's result is not shown any more; its record stays. */
async function forgetRun(tables: Kysely<Tables>, name: RunName): Promise<void> {
  await tables.updateTable("runs").set({ forgotten: 1 }).where(isNamed(name)).execute();
  await tables
    .deleteFrom("test_reports")
    .where("sandbox", "=", name.id)
    .where("principal", "=", name.principal)
    .execute();
}

function isNamed({ id, principal }: RunName): (where: ExpressionBuilder<Tables, "runs">) => Expression<SqlBool> {
  return (where) =>
    where.and([
      where("principal", "=", principal),
      where.or([where("id", "=", id), where.and([where("sandbox", "=", id), where("kind", "in", ownSandboxKinds)])]),
    ]);
}

async function withLabels(tables: Kysely<Tables>, runs: readonly RunRow[]): Promise<readonly StoredRun[]> {
  const ids = runs.map(({ id }) => id);
  const labels =
    ids.length === 0 ? [] : await tables.selectFrom("run_labels").selectAll().where("run", "in", ids).execute();
  const byRun = Map.groupBy(labels, ({ run }) => run);
  return runs.map((run) => ({
    ...run,
    toldId: ownSandboxKinds.includes(run.kind) ? run.sandbox : run.id,
    labels: Object.fromEntries((byRun.get(run.id) ?? []).map(({ name, value }) => [name, value])),
  }));
}

async function nextPosition(tables: Kysely<Tables>, sandbox: string): Promise<number> {
  const newest = await tables
    .selectFrom("log_entries")
    .select("position")
    .where("sandbox", "=", sandbox)
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return (newest?.position ?? -1) + 1;
}

/** A character whose first bytes are beyond the limit is left out. */
function lastCharacters(text: Buffer): string {
  if (text.length <= tail.bytes) return text.toString();
  const kept = text.subarray(-tail.bytes);
  return kept.toString(
    "utf8",
    kept.findIndex((byte) => (byte & 0xc0) !== 0x80),
  );
}
