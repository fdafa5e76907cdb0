import type { JsonObject } from "./json-fields.ts";

/** What one line of an agent's JSON mode says, in words that are the same for all agents. */
export type AgentFact =
  | { readonly kind: "session"; readonly id: string }
  /** A piece of its answer; one that `continues` belongs to the piece before it, without a break. */
  | { readonly kind: "says"; readonly text: string; readonly continues?: boolean }
  /** `input` is what the tool was given, on one short line. */
  | { readonly kind: "calls"; readonly tool: string; readonly input: string }
  /** A tool has ended; `tool` is empty where the line does not name it. */
  | { readonly kind: "returns"; readonly tool: string; readonly failed: boolean }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly kind: "note"; readonly text: string }
  /** It counts unless the agent says something afterwards. */
  | { readonly kind: "fails"; readonly message: string }
  /** Its whole answer, where the agent itself says which that is. */
  | { readonly kind: "answers"; readonly text: string };

/** Reads one line, which is untrusted. Pure; never throws; empty for a line that it does not know. */
export type ReadFacts = (line: JsonObject) => readonly AgentFact[];

/** The name of the conversation, where a line has one. */
export function sessionOf(id: string | null): readonly AgentFact[] {
  return id === null ? [] : [{ kind: "session", id }];
}

/** No longer than a line of a terminal or two. */
const maxInputLength = 200;

/** What a tool was given, on one line: its command, what it looks for or its path where it has one, else all of it. */
export function summariseInput(input: JsonObject): string {
  const telling = ["command", "cmd", "pattern", "query", "url", "path", "file_path", "filePath"];
  const key = telling.find((each) => typeof input[each] === "string");
  const text = key === undefined ? JSON.stringify(input) : String(input[key]);
  const line = text
    .slice(0, 2 * maxInputLength)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxInputLength ? `${line.slice(0, maxInputLength - 1)}…` : line;
}
