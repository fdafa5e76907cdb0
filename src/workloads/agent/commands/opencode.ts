import {
  sessionOf,
  summariseInput,
  type AgentFact,
  type AgentProgram,
  type AgentStart,
  type AgentTurn,
  type Variables,
} from "./agent-program.ts";
import { countAt, objectAt, textAt, type JsonObject } from "./json-fields.ts";

/** https://opencode.ai */
export const opencode: AgentProgram = {
  title: "opencode",
  // Only the package for the platform, in the variant for older processors too: the main package merely selects it.
  install: ({ cpu, libc }) => {
    const name = `opencode-linux-${cpu}${cpu === "x64" ? "-baseline" : ""}${libc === "musl" ? "-musl" : ""}`;
    return { name, version: "1.18.33", program: `${name}/bin/opencode` };
  },
  start,
  readFacts,
};

/** Its name for a server at a base URL. */
const provider = "glovebox";

function start({ sessionId, instructions, variables, stateFolder }: AgentTurn): AgentStart {
  return {
    command: [
      "opencode",
      "run",
      // Plugins are fetched at each start.
      ...["--format", "json", "--pure"],
      ...(sessionId === null ? [] : ["--session", sessionId]),
    ],
    folders: ["data", "state", "config", "cache"].map((name) => `${stateFolder}/opencode/${name}`),
    variables: {
      XDG_DATA_HOME: `${stateFolder}/opencode/data`,
      XDG_STATE_HOME: `${stateFolder}/opencode/state`,
      XDG_CACHE_HOME: `${stateFolder}/opencode/cache`,
      XDG_CONFIG_HOME: `${stateFolder}/opencode/config`,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(instructions.file, variables)),
    },
  };
}

function configuration(instructionsFile: string, variables: Variables): JsonObject {
  const model = variables["PI_MODEL"] ?? "";
  const baseUrl = (variables["PI_BASE_URL"] ?? "") || (variables["OPENAI_BASE_URL"] ?? "");
  const common = { autoupdate: false, share: "disabled", permission: "allow", instructions: [instructionsFile] };
  if (baseUrl === "" || model === "") return { ...common, ...(model === "" ? {} : { model }) };
  // A reference: the key itself is never in a file.
  const key = (variables["PI_API_KEY"] ?? "") === "" ? "OPENAI_API_KEY" : "PI_API_KEY";
  const server = {
    npm: "@ai-sdk/openai-compatible",
    name: provider,
    options: { baseURL: baseUrl, apiKey: `{env:${key}}` },
    models: { [model]: { name: model } },
  };
  return { ...common, model: `${provider}/${model}`, provider: { [provider]: server } };
}

function readFacts(line: JsonObject): readonly AgentFact[] {
  return [...sessionOf(textAt(line, "sessionID")), ...readPart(line)];
}

function readPart(line: JsonObject): readonly AgentFact[] {
  const part = objectAt(line, "part");
  switch (line["type"]) {
    case "text":
      return [{ kind: "says", text: textAt(part, "text") ?? "" }];
    case "tool_use": {
      const tool = textAt(part, "tool") ?? "";
      return [
        { kind: "calls", tool, input: summariseInput(objectAt(part, "state", "input")) },
        { kind: "returns", tool, failed: textAt(part, "state", "status") === "error" },
      ];
    }
    case "step_finish":
      return [
        {
          kind: "usage",
          inputTokens: countAt(part, "tokens", "input"),
          outputTokens: countAt(part, "tokens", "output"),
        },
      ];
    case "error":
      return [
        {
          kind: "fails",
          message: textAt(line, "error", "data", "message") ?? textAt(line, "error", "name") ?? "it failed",
        },
      ];
    default:
      return [];
  }
}
