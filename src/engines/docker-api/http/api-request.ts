/** One call of the engine's API. */
export interface ApiRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Path without query; ids and names in it are ours or the engine's. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** A tar archive, in place of a body. */
  readonly archive?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Status and decoded body: parsed JSON, text when it is not JSON, null when it is empty. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}
