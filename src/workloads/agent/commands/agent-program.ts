import type { JsonObject } from "./json-fields.ts";
import type { LinuxTarget } from "../../program/image-builds.ts";

/** What one line of an agent's JSON mode says, in a form common to all agents. */
export type AgentFact =
  | { readonly kind: "session"; readonly id: string }
  /** A piece of its answer; with `continues` it belongs to the piece before it, without a break. */
  | { readonly kind: "says"; readonly text: string; readonly continues?: boolean }
  /** `input` is what the tool was given, on one short line. */
  | { readonly kind: "calls"; readonly tool: string; readonly input: string }
  /** A tool has ended; `tool` is empty if the line does not name it. */
  | { readonly kind: "returns"; readonly tool: string; readonly failed: boolean }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly kind: "note"; readonly text: string }
  /** An error, unless the agent says something afterwards. */
  | { readonly kind: "fails"; readonly message: string }
  /** Its full answer, if the agent itself marks it as such. */
  | { readonly kind: "answers"; readonly text: string };

/** Reads one line, which is untrusted. Pure; never throws; empty for unknown lines. */
export type ReadFacts = (line: JsonObject) => readonly AgentFact[];

/** The name of the conversation, if a line has one. */
export function sessionOf(id: string | null): readonly AgentFact[] {
  return id === null ? [] : [{ kind: "session", id }];
}

/** At most a line or two of a terminal. */
const maxInputLength = 200;

/** A tool's input on one line: its command, search text or path if it has one, else all of it. */
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

export type Variables = Readonly<Record<string, string | undefined>>;

/** One run of an agent. It gets its prompt on standard input. */
export interface AgentTurn {
  /** Conversation of an earlier run to continue; null begins a new one. */
  readonly sessionId: string | null;
  readonly instructions: {
    readonly text: string;
    /** The same, in a file inside the container. */
    readonly file: string;
  };
  /** The container's environment. */
  readonly variables: Variables;
  /** Where the agent may keep state for its next run. */
  readonly stateFolder: string;
}

/** How an agent is started for a turn. */
export interface AgentStart {
  readonly command: readonly string[];
  /** Added to the container's environment. `command` contains no secrets: others see it in the list of processes. */
  readonly variables: Readonly<Record<string, string>>;
  /** Created before it starts. */
  readonly folders: readonly string[];
  /** Whether the instructions must be prepended to the prompt, because the command has no option for them. */
  readonly instructionsInPrompt?: boolean;
}

/** One agent: where it comes from, how it is started and what its lines mean. */
export interface AgentProgram {
  readonly title: string;
  /** The npm packages that are installed in the image. */
  readonly install: (target: LinuxTarget) => AgentPackage;
  readonly start: (turn: AgentTurn) => AgentStart;
  readonly readFacts: ReadFacts;
}

export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of its archive, if that also pins its dependencies (it contains a shrinkwrap). */
  readonly integrity?: string;
  /** Its program, below `node_modules`. */
  readonly program: string;
}
