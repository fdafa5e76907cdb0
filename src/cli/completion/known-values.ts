import { engineNames } from "../../config/engine-words.ts";
import { agentNames } from "../../policy/agents/agent-names.ts";
import { mcpClients } from "../../mcp/install/clients.ts";
import { isolationLevels, javascriptRuntimes, languages } from "../../operations/contract/wire-values.ts";
import { completedShells } from "./completed-shells.ts";

/** Values of options, wherever these are taken; others have the choices that the parser checks. */
const ofOptions: Readonly<Record<string, readonly string[]>> = {
  "--engine": ["auto", ...engineNames],
  "--language": [...languages, "py", "js", "ts"],
  "--runtime": javascriptRuntimes,
  "--network": ["none", "registries", "open"],
  "--min-isolation": isolationLevels,
};

/** Values of the first argument, by the command's words. */
const ofArguments: Readonly<Record<string, readonly string[]>> = {
  "mcp install": mcpClients.map(({ name }) => name),
  completion: completedShells,
  agent: agentNames,
};

/** Commands that take a live sandbox. */
const ofSandboxes: ReadonlySet<string> = new Set(["rm", "stats", "logs", "exec", "shell", "cp"]);

/** What may stand behind an option; empty: anything. */
export function valuesOfOption(long: string, choices: readonly string[] = []): readonly string[] {
  return choices.length > 0 ? choices : (ofOptions[long] ?? []);
}

/** What a command's arguments may be; empty: anything. */
export function valuesOfArguments(words: readonly string[]): readonly string[] {
  return ofArguments[words.join(" ")] ?? [];
}

/** Whether a command takes the names and ids of live sandboxes. */
export function takesSandboxes(words: readonly string[]): boolean {
  return ofSandboxes.has(words.join(" "));
}
