import * as z from "zod";
import { mebibyte } from "../base/bytes.ts";
import { warmPoolModes, type Config } from "./config.ts";
import { choice, duration, wholeNumber } from "./leaf-schemas.ts";

type WarmPoolShape = {
  mode: z.ZodDefault<ReturnType<typeof choice<(typeof warmPoolModes)[number]>>>;
  min: z.ZodDefault<z.ZodNullable<z.ZodNumber>>;
  max: z.ZodDefault<z.ZodNumber>;
  idle_timeout: z.ZodPrefault<ReturnType<typeof duration>>;
  max_age: z.ZodPrefault<ReturnType<typeof duration>>;
  min_free_mb: z.ZodDefault<z.ZodNumber>;
};

/** The section `warm_pool`. */
export function warmPoolSection(): z.ZodPrefault<z.ZodObject<WarmPoolShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        mode: choice(warmPoolModes)
          .default("auto")
          .describe(
            "Whether sandboxes are kept ready for one-shot runs, with the interpreter started: `on` or `off`; `auto` is `on` for `glovebox serve` and `glovebox mcp`, and `off` in the library. Commands such as `glovebox run` never have any.",
          ),
        min: wholeNumber("sandboxes", 0, 1_000)
          .nullable()
          .default(null)
          .describe(
            "Minimum number of ready sandboxes of each kind that was ever requested; unset: 1 for a server, 0 over stdio and in the library.",
          ),
        max: wholeNumber("sandboxes", 0, 1_000)
          .default(8)
          .describe("Maximum number of ready sandboxes of all kinds together; they count towards `max_containers`."),
        idle_timeout: duration()
          .prefault("5m")
          .describe("After this long without a run of a kind, only `min` sandboxes of that kind are kept."),
        max_age: duration().prefault("30m").describe("A ready sandbox is replaced after this long."),
        min_free_mb: wholeNumber("MB", 0, mebibyte)
          .default(512)
          .describe("No ready sandbox is created while this machine has less available memory than this, in MB (MiB)."),
      },
      "an object",
    )
    .prefault({});
}

export function toWarmPool(keys: z.output<z.ZodObject<WarmPoolShape>>): Config["warmPool"] {
  return {
    mode: keys.mode,
    min: keys.min,
    max: keys.max,
    idleMs: keys.idle_timeout,
    maxAgeMs: keys.max_age,
    minFreeBytes: keys.min_free_mb * mebibyte,
  };
}
