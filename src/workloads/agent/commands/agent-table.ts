import { agentNames, type AgentName } from "../../../policy/known-agents.ts";
import type { AgentProgram } from "./agent-program.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";

/** The agents that Glovebox knows: one row each. */
export const agentTable: Readonly<Record<AgentName, AgentProgram>> = { pi, claude, codex, gemini, opencode };

/** Whether an agent of that name is known. */
export function isAgentName(name: string): name is AgentName {
  return (agentNames as readonly string[]).includes(name);
}
