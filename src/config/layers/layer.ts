import type { ConfigSource } from "../config.ts";

/** What one source says: nested objects as in the file, not checked yet. */
export interface Layer {
  readonly source: Exclude<ConfigSource, "default">;
  readonly content: unknown;
  /** Where a key's value stands in it, in words, such as `environment variable MAX_CONTAINERS`. */
  readonly placeOf: (key: string) => string;
}
