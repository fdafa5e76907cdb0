import type { LinuxTarget } from "../../program/look-at-base.ts";
import type { ReadFacts } from "./agent-fact.ts";

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
