import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { Scene } from "./scene.ts";

/** Sentences about runs that the stores hold without an end although nothing is running any more. */
export async function unendedRuns({ postgres, storeFolder, servers }: Scene): Promise<readonly string[]> {
  const query = "select count(*) as runs from runs where ended_ms is null";
  const counts: Record<string, number> = {};
  if (postgres !== null) {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ readonly runs: string }>(query);
      counts["PostgreSQL"] = Number(rows[0]?.runs);
    } finally {
      await client.end();
    }
  }
  const home = servers.at(-1)?.served.home ?? "";
  const file = storeFolder === null ? join(home, "state/glovebox/store.db") : join(storeFolder, "store.db");
  if (existsSync(file)) {
    using database = new DatabaseSync(file, { readOnly: true });
    counts["SQLite"] = Number(database.prepare(query).get()?.["runs"]);
  }
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `In ${name} ${count} runs have no end.`);
}
