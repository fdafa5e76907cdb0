import type { ConfigSource } from "../config.ts";

/** The settings of one source: nested objects as in the file, not checked yet. */
export interface Layer {
  readonly source: Exclude<ConfigSource, "default">;
  readonly content: unknown;
  /** Describes where a key's value was set, such as `environment variable MAX_CONTAINERS`. */
  readonly placeOf: (key: string) => string;
}
