import type { AgentInput } from "./agent-protocol.ts";
import { isAgentName, agentTable } from "./commands/agent-table.ts";
import type { AgentName } from "../../policy/known-agents.ts";
import { parseJsonObject, objectAt, textAt, type JsonObject } from "./commands/json-fields.ts";

/** The runner's request, normalised. */
export interface RunnerInput extends Omit<AgentInput, "sessionId" | "memoryContext" | "agent"> {
  /** Null begins a new conversation. */
  readonly sessionId: string | null;
  readonly memoryContext: string | null;
  readonly agent: AgentName;
  /** Program and arguments that replace the agent's own. */
  readonly command: readonly string[] | null;
}

/** Form of the names that agents give to conversations; none is an option or a path. */
const sessionForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/**
 * Parses standard input. `groupFolder` is accepted for `group`; unknown keys are ignored.
 * @throws Error with a sentence for people
 */
export function readInput(text: string): RunnerInput {
  const value = parseJsonObject(text);
  if (value === null) throw new Error("The input is not a JSON object.");
  const prompt = textAt(value, "prompt");
  if (prompt === null || prompt.trim() === "")
    throw new Error('The input has no "prompt", which is the text to work on.');
  const sessionId = optionalText(value, "sessionId");
  if (sessionId !== null && !sessionForm.test(sessionId)) {
    throw new Error('"sessionId" is not the name of a conversation: letters, digits, ".", "_" and "-".');
  }
  return {
    prompt,
    group: textAt(value, "group") ?? textAt(value, "groupFolder") ?? "",
    isMain: value["isMain"] === true,
    isFolder: value["isFolder"] === true,
    sessionId,
    memoryContext: optionalText(value, "memoryContext"),
    agent: readAgent(objectAt(value, "agent")),
    command: readCommand(objectAt(value, "agent")["command"]),
  };
}

/** An empty text means the same as none. */
function optionalText(value: JsonObject, key: string): string | null {
  return textAt(value, key)?.trim() === "" ? null : textAt(value, key);
}

function readAgent(agent: JsonObject): AgentName {
  const name = textAt(agent, "name") ?? "pi";
  if (isAgentName(name)) return name;
  throw new Error(`Agent "${name}" is not known; known are ${Object.keys(agentTable).join(", ")}.`);
}

function readCommand(command: unknown): readonly string[] | null {
  if (command === undefined || command === null) return null;
  if (Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === "string")) return command;
  throw new Error('"agent.command" is not a list of texts: the program and its arguments.');
}
