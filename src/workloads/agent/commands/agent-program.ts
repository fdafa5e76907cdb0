import type { LinuxTarget } from "../../program/image/look-at-base.ts";
import type { ReadFacts } from "./agent-fact.ts";

/** Names of the agents that are known; the setting and the image's tag use them. */
export const agentNames = ["pi", "claude", "codex", "gemini", "opencode"] as const;
export type AgentName = (typeof agentNames)[number];

export type Variables = Readonly<Record<string, string | undefined>>;

/** One run of an agent. Its prompt reaches it over standard input. */
export interface AgentTurn {
  /** Of an earlier run, to go on with; null begins a new conversation. */
  readonly sessionId: string | null;
  readonly instructions: {
    readonly text: string;
    /** The same, in a file inside the container. */
    readonly file: string;
  };
  /** What the container's environment has. */
  readonly variables: Variables;
  /** Where the agent may keep what it needs for its next run. */
  readonly stateFolder: string;
}

/** How an agent is started for a turn. */
export interface AgentStart {
  readonly command: readonly string[];
  /** Set for it, over the container's own. No secret is in `command`: others see it in the list of processes. */
  readonly variables: Readonly<Record<string, string>>;
  /** Made before it starts. */
  readonly folders: readonly string[];
  /** Whether the instructions must stand before the prompt, because the command has no other way for them. */
  readonly instructionsInPrompt?: boolean;
}

/** One agent: where it comes from, how it is started and what its lines mean. */
export interface AgentProgram {
  readonly title: string;
  /** What of the npm registry is installed into the image. */
  readonly install: (target: LinuxTarget) => AgentPackage;
  readonly start: (turn: AgentTurn) => AgentStart;
  readonly readFacts: ReadFacts;
}

export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  /** Hash of its archive, where that pins all that it needs too (it holds a shrinkwrap). */
  readonly integrity?: string;
  /** Its program, below `node_modules`. */
  readonly program: string;
}
