import * as z from "zod";
import { mebibyte } from "../base/bytes.ts";
import type { Config } from "./config.ts";
import { choice, hostPath, wholeNumber } from "./leaf-schemas.ts";

/** Whether there is a store, and in what; `auto`: a SQLite file for `glovebox serve`, none elsewhere. */
const storeKinds = ["auto", "off", "sqlite", "postgres"] as const;

type StoreShape = {
  kind: z.ZodDefault<ReturnType<typeof choice<(typeof storeKinds)[number]>>>;
  file: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  url: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  max_age_days: z.ZodDefault<z.ZodNumber>;
  max_mb: z.ZodDefault<z.ZodNumber>;
};

type LogsShape = { redis_url: z.ZodDefault<z.ZodNullable<z.ZodString>> };

const dayMs = 86_400_000;

/** The section `store`. */
export function storeSection(): z.ZodPrefault<z.ZodObject<StoreShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        kind: choice(storeKinds)
          .default("auto")
          .describe(
            "Where runs, logs, metrics and alerts are kept: `sqlite`, `postgres`, or `off`; `auto` is `sqlite` for `glovebox serve` and `off` elsewhere.",
          ),
        file: hostPath()
          .nullable()
          .default(null)
          .describe("File of the SQLite store; unset: `store.db` in the state folder."),
        url: url(["postgres:", "postgresql:"])
          .nullable()
          .default(null)
          .describe(
            "URL of the PostgreSQL store, never shown; if it has no password, `PGPASSWORD` or `~/.pgpass` is used.",
          ),
        max_age_days: wholeNumber("days", 1, 3_650).default(30).describe("Days after which stored data is removed."),
        max_mb: wholeNumber("MB", 1, 1_048_576)
          .default(1_024)
          .describe("Maximum MB (MiB) of stored log entries; beyond it whoever has most loses the oldest."),
      },
      "an object",
    )
    .prefault({});
}

/** The section `logs`. */
export function logsSection(): z.ZodPrefault<z.ZodObject<LogsShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        redis_url: url(["redis:", "rediss:"])
          .nullable()
          .default(null)
          .describe("URL of a Redis server that log entries are published to, never shown; unset: none."),
      },
      "an object",
    )
    .prefault({});
}

export function toStore(keys: z.output<ReturnType<typeof storeSection>>): Config["store"] {
  const { kind, file, url: place, max_age_days: days, max_mb: megabytes } = keys;
  return { kind, file, url: place, maxAgeMs: days * dayMs, maxBytes: megabytes * mebibyte };
}

function url(protocols: readonly string[]): z.ZodString {
  const words = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`;
  return z.string(words).refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), words);
}
