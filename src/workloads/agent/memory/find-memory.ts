import type { AgentFolders } from "../folders/agent-folders.ts";

/** What is looked for in the memory of a group. */
export interface MemoryQuestion {
  readonly folders: Pick<AgentFolders, "workspace" | "global">;
  readonly prompt: string;
  /** Least relevance of a passage, from 0 to 1. */
  readonly minRelevance: number;
  /** Of all passages together; 0: nothing is looked for. */
  readonly maxCharacters: number;
}

/** What was found; null: nothing that is relevant enough. */
export interface FoundMemory {
  readonly context: string | null;
  /** What hindered it, one sentence each: the run goes on without. */
  readonly warnings: readonly string[];
}

/** Finds passages of a group's memory for a prompt. @throws CANCELLED alone */
export type FindMemory = (question: MemoryQuestion, signal: AbortSignal | undefined) => Promise<FoundMemory>;
