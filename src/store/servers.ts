import type { Kysely } from "kysely";
import { canonicalJson } from "../base/json-text.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./tables.ts";
import type { Kit } from "../base/kit.ts";

export interface ServersOptions extends Pick<Kit, "now" | "monotonicMs"> {
  /** This server. */
  readonly id: string;
  /** This process, in a form that `isAlive` of another server reads. */
  readonly identity: unknown;
  /** Whether the process of another server is running; null if that is unknown here. */
  readonly isAlive: (identity: unknown) => boolean | null;
}

/** What this server has seen of another. */
interface Sighting {
  readonly beats: number;
  readonly sinceMs: number;
}

/** A server of another machine that has given no sign of life for so long is gone: five missed ones. */
const silentMs = 300_000;

/** The servers that share a database: each gives signs of life, and ends the records of those that are gone. */
export class Servers {
  readonly #options: ServersOptions;
  readonly #sightings = new Map<string, Sighting>();

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** A sign of life of this server, the first or another. */
  async beat({ tables }: Database): Promise<void> {
    const { id, identity } = this.#options;
    await tables
      .insertInto("servers")
      .values({ id, identity: canonicalJson(identity), beats: 1 })
      .onConflict((conflict) => conflict.column("id").doUpdateSet((set) => ({ beats: set("servers.beats", "+", 1) })))
      .execute();
  }

  /** Marks the open runs of servers that are gone as interrupted; resolves to how many there were. */
  async endInterrupted({ tables }: Database): Promise<number> {
    const { id: own } = this.#options;
    const others = await tables.selectFrom("servers").selectAll().where("id", "!=", own).execute();
    const gone = others.filter(({ id, identity, beats }) => this.#isGone(id, identity, beats)).map(({ id }) => id);
    if (gone.length === 0) return 0;
    const ended = await this.#end(tables, gone);
    for (const id of gone) this.#sightings.delete(id);
    return ended;
  }

  /** This server ends, with all of its runs: those whose end could not be written are interrupted. */
  async leave({ tables }: Database): Promise<void> {
    await this.#end(tables, [this.#options.id]);
  }

  async #end(tables: Kysely<Tables>, servers: readonly string[]): Promise<number> {
    return tables.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("runs")
        .set({ ended_ms: this.#options.now(), outcome: "sandbox_lost", interrupted: 1 })
        .where("server", "in", servers)
        .where("ended_ms", "is", null)
        .executeTakeFirst();
      await transaction.deleteFrom("servers").where("id", "in", servers).execute();
      return Number(numUpdatedRows);
    });
  }

  #isGone(id: string, identity: string, beats: number): boolean {
    const alive = this.#options.isAlive(parse(identity));
    if (alive !== null) return !alive;
    const nowMs = this.#options.monotonicMs();
    const seen = this.#sightings.get(id);
    if (seen?.beats === beats) return nowMs - seen.sinceMs > silentMs;
    this.#sightings.set(id, { beats, sinceMs: nowMs });
    return false;
  }
}

function parse(identity: string): unknown {
  try {
    return JSON.parse(identity);
  } catch {
    return null;
  }
}
