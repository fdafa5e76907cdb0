import { sql } from "kysely";
import { entriesOf, type LogBlock } from "../telemetry/logs/log-block.ts";
import { entryBytes, type LogEntry } from "../telemetry/logs/log-entry.ts";
import type { Database } from "./database.ts";

/** Writes log entries, all or none; those that are there already stay as they are. */
export async function insertEntries({ kind, tables }: Database, blocks: readonly LogBlock[]): Promise<void> {
  // One parameter and one text of a statement: building thousands of parameters would cost more than the writing.
  const rows = JSON.stringify(blocks.flatMap((block) => entriesOf(block).map(rowOf)));
  const columns = sql`insert into log_entries (sandbox, position, principal, stamp_ms, stream, message, partial, dropped, bytes)`;
  const statement =
    kind === "sqlite"
      ? sql`${columns} select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
          value ->> 7, value ->> 8 from json_each(${rows}) where true on conflict do nothing`
      : sql`${columns} select e ->> 0, (e ->> 1)::bigint, e ->> 2, (e ->> 3)::bigint, e ->> 4, e ->> 5, (e ->> 6)::int,
          (e ->> 7)::bigint, (e ->> 8)::int from json_array_elements(${rows}::json) e on conflict do nothing`;
  await statement.execute(tables);
}

function rowOf(entry: LogEntry): readonly (string | number)[] {
  const { source, offset, stampMs, stream, message, partial, dropped } = entry;
  const bytes = entryBytes(entry);
  return [source.sandbox, offset, source.principal, stampMs, stream, message, partial ? 1 : 0, dropped, bytes];
}
