import {
  sessionOf,
  summariseInput,
  type AgentFact,
  type AgentProgram,
  type AgentStart,
  type AgentTurn,
} from "./agent-program.ts";
import { countAt, objectAt, objectsAt, textAt, type JsonObject } from "./json-fields.ts";

/** https://developers.openai.com/codex */
export const codex: AgentProgram = {
  title: "Codex",
  install: () => ({ name: "@openai/codex", version: "0.169.0", program: "@openai/codex/bin/codex.js" }),
  start,
  readFacts,
};

/** Its name for a server at a base URL. */
const provider = "glovebox";

function start({ sessionId, instructions, variables, stateFolder }: AgentTurn): AgentStart {
  const model = variables["PI_MODEL"] ?? "";
  const baseUrl = (variables["PI_BASE_URL"] ?? "") || (variables["OPENAI_BASE_URL"] ?? "");
  const key = (variables["CODEX_API_KEY"] ?? "") || (variables["OPENAI_API_KEY"] ?? "") || variables["PI_API_KEY"];
  return {
    command: [
      "codex",
      "exec",
      ...(sessionId === null ? [] : ["resume"]),
      // The container is its sandbox; its own would need namespaces, which the container denies.
      ...["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
      ...setting("developer_instructions", instructions.text),
      ...(model === "" ? [] : ["--model", model]),
      ...(baseUrl === "" ? [] : serverAt(baseUrl)),
      ...(sessionId === null ? [] : [sessionId]),
      "-",
    ],
    folders: [`${stateFolder}/codex`],
    variables: { CODEX_HOME: `${stateFolder}/codex`, ...(key === undefined ? {} : { CODEX_API_KEY: key }) },
  };
}

function serverAt(baseUrl: string): readonly string[] {
  return [
    ...setting("model_provider", provider),
    ...setting(`model_providers.${provider}.name`, provider),
    ...setting(`model_providers.${provider}.base_url`, baseUrl),
    ...setting(`model_providers.${provider}.env_key`, "CODEX_API_KEY"),
    ...setting(`model_providers.${provider}.wire_api`, "responses"),
  ];
}

/** Values are TOML, whose strings are written as in JSON. */
function setting(key: string, value: string): readonly string[] {
  return ["--config", `${key}=${JSON.stringify(value)}`];
}

function readFacts(line: JsonObject): readonly AgentFact[] {
  switch (line["type"]) {
    case "thread.started":
      return sessionOf(textAt(line, "thread_id"));
    case "item.started":
      return readStart(objectAt(line, "item"));
    case "item.completed":
      return readEnd(objectAt(line, "item"));
    case "turn.completed":
      return [
        {
          kind: "usage",
          inputTokens: countAt(line, "usage", "input_tokens"),
          outputTokens: countAt(line, "usage", "output_tokens"),
        },
      ];
    case "turn.failed":
      return [{ kind: "fails", message: textAt(line, "error", "message") ?? "the turn failed" }];
    case "error":
      return [{ kind: "fails", message: textAt(line, "message") ?? "it failed" }];
    default:
      return [];
  }
}

/** Items that represent tool calls. */
const toolItems = new Set(["command_execution", "mcp_tool_call", "web_search"]);

function readStart(item: JsonObject): readonly AgentFact[] {
  const type = textAt(item, "type") ?? "";
  if (!toolItems.has(type)) return [];
  const input = type === "mcp_tool_call" ? objectAt(item, "arguments") : item;
  return [{ kind: "calls", tool: textAt(item, "tool") ?? type, input: summariseInput(input) }];
}

function readEnd(item: JsonObject): readonly AgentFact[] {
  const type = textAt(item, "type") ?? "";
  const failed = item["status"] === "failed";
  if (type === "agent_message") return [{ kind: "says", text: textAt(item, "text") ?? "" }];
  if (type === "error") return [{ kind: "note", text: textAt(item, "message") ?? "" }];
  if (type === "file_change") {
    const paths = objectsAt(item, "changes").map((change) => textAt(change, "path") ?? "");
    return [
      { kind: "calls", tool: type, input: summariseInput({ path: paths.join(" ") }) },
      { kind: "returns", tool: type, failed },
    ];
  }
  return toolItems.has(type) ? [{ kind: "returns", tool: textAt(item, "tool") ?? type, failed }] : [];
}
