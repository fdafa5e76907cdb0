import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { makeDatabase, type StorePlace } from "../../src/store/database.ts";
import { PostgresServer, postgresProblem } from "./postgres-server.ts";
import { skipOrFail } from "./require.ts";

/** The databases that a store can be in. */
export const storeKinds = ["sqlite", "postgres"] as const;

/** The place of the current test, and how to make it go away and come back. */
export interface StorePlaces {
  readonly place: () => StorePlace;
  readonly away: () => Promise<void>;
  readonly back: () => Promise<void>;
}

/** A new, empty place of that kind for each test of a `describe`; if there is none, a failure or a visible skip. */
export function useStorePlaces(kind: (typeof storeKinds)[number]): StorePlaces {
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-store-"));
  let postgres: PostgresServer | undefined;
  let place: StorePlace;
  let count = 0;
  beforeAll(async () => {
    if (kind === "postgres" && postgresProblem() === null) postgres = await PostgresServer.start();
  });
  beforeEach(async (context) => {
    count += 1;
    if (kind === "sqlite") {
      place = { kind, file: path.join(folder, `${count}.db`) };
      return;
    }
    if (postgres === undefined) return skipOrFail(context, "postgres", postgresProblem() ?? "");
    const { tables } = makeDatabase({ kind, url: postgres.url }, () => undefined);
    await sql.raw(`create database store${count}`).execute(tables);
    await tables.destroy();
    place = { kind, url: postgres.url.replace(/postgres$/, `store${count}`) };
  });
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  return {
    place: () => place,
    away: async () => {
      if (place.kind === "sqlite") mkdirSync(place.file);
      else await postgres?.down();
    },
    back: async () => {
      if (place.kind === "sqlite") rmdirSync(place.file);
      else await postgres?.up();
    },
  };
}
