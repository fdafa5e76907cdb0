/** The model's answer to one request. */
export interface ModelTurn {
  readonly text?: string;
  readonly tools?: readonly ModelToolCall[];
  /** The request fails with this HTTP status and message instead. */
  readonly failure?: { readonly status: number; readonly message: string };
}

export interface ModelToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The parts of an agent's request that a script decides by. */
export interface ModelRequest {
  /** Which of the four APIs it speaks. */
  readonly api: ModelApi["name"];
  readonly model: string;
  /** Names of the tools that the request offers. */
  readonly tools: readonly string[];
  /** How many tools have answered in the conversation so far. */
  readonly toolResults: number;
  readonly body: string;
}

/** How one API writes requests and answers. */
export interface ModelApi {
  readonly name: "chat-completions" | "responses" | "messages" | "generate-content";
  /** Paths of its requests, without the query. */
  readonly path: RegExp;
  readonly toolNames: (body: Json) => readonly string[];
  readonly toolResults: (body: Json) => number;
  /** The answer as server-sent events: name (or null) and data. */
  readonly events: (turn: ModelTurn, model: string) => readonly ServerEvent[];
}

export type Json = Readonly<Record<string, unknown>>;
export type ServerEvent = readonly [name: string | null, data: unknown];

/** The list at a key of the body; empty if there is none. */
export function listOf(body: Json, key: string): readonly Json[] {
  return Array.isArray(body[key]) ? (body[key] as Json[]) : [];
}

/** How often a text occurs in a part of the body. */
export function countIn(part: unknown, text: string): number {
  return JSON.stringify(part ?? null).split(text).length - 1;
}
