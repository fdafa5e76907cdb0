import {
  sessionOf,
  summariseInput,
  type AgentFact,
  type AgentProgram,
  type AgentStart,
  type AgentTurn,
} from "./agent-program.ts";
import { countAt, objectAt, textAt, type JsonObject } from "./json-fields.ts";

/** https://geminicli.com */
export const gemini: AgentProgram = {
  title: "Gemini CLI",
  install: () => ({ name: "@google/gemini-cli", version: "0.61.0", program: "@google/gemini-cli/bundle/gemini.js" }),
  start,
  readFacts,
};

/** Selects authentication by key, which it does not detect itself if a base URL is set. */
const keySettings = "/app/gemini-settings.json";

function start({ sessionId, variables, stateFolder }: AgentTurn): AgentStart {
  const model = variables["PI_MODEL"] ?? "";
  const hasKey = (variables["GEMINI_API_KEY"] ?? "") !== "";
  return {
    command: [
      "gemini",
      ...["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"],
      ...(model === "" ? [] : ["--model", model]),
      ...(sessionId === null ? [] : ["--resume", sessionId]),
    ],
    folders: [`${stateFolder}/gemini`],
    variables: {
      GEMINI_CLI_HOME: `${stateFolder}/gemini`,
      ...(hasKey ? { GEMINI_CLI_SYSTEM_SETTINGS_PATH: keySettings } : {}),
    },
    instructionsInPrompt: true,
  };
}

function readFacts(line: JsonObject): readonly AgentFact[] {
  switch (line["type"]) {
    case "init":
      return sessionOf(textAt(line, "session_id"));
    case "message":
      return line["role"] === "assistant"
        ? [{ kind: "says", text: textAt(line, "content") ?? "", continues: line["delta"] === true }]
        : [];
    case "tool_use":
      return [
        { kind: "calls", tool: textAt(line, "tool_name") ?? "", input: summariseInput(objectAt(line, "parameters")) },
      ];
    case "tool_result":
      return [{ kind: "returns", tool: "", failed: line["status"] === "error" }];
    case "error":
      return [{ kind: "note", text: textAt(line, "message") ?? "" }];
    case "result":
      return readResult(line);
    default:
      return [];
  }
}

function readResult(line: JsonObject): readonly AgentFact[] {
  const usage: AgentFact = {
    kind: "usage",
    inputTokens: countAt(line, "stats", "input_tokens"),
    outputTokens: countAt(line, "stats", "output_tokens"),
  };
  if (line["status"] !== "error") return [usage];
  return [usage, { kind: "fails", message: textAt(line, "error", "message") ?? "it failed" }];
}
