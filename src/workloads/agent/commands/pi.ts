import {
  sessionOf,
  summariseInput,
  type Variables,
  type AgentFact,
  type AgentProgram,
  type AgentStart,
  type AgentTurn,
} from "./agent-program.ts";
import { keyVariablesOf } from "../../../policy/known-agents.ts";
import { countAt, objectAt, objectsAt, textAt, type JsonObject } from "./json-fields.ts";

/** A model to register with pi; `/app/pi-model.mjs` reads it from `GLOVEBOX_PI_MODEL`. */
interface CustomModel {
  readonly provider: string;
  readonly baseUrl: string;
  readonly api: string;
  /** A reference to a variable: the key itself is never in a file. */
  readonly apiKey: string;
  /** Null: the provider's models known to pi, at another address. */
  readonly model: string | null;
}

/** Which model pi uses, by the variables `PI_API`, `PI_MODEL`, `PI_BASE_URL`, `OPENAI_BASE_URL` and `PI_API_KEY`. */
interface PiModel {
  readonly flags: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly custom: CustomModel | null;
}

/** APIs that pi can use with any server. */
const apis = new Set(["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"]);
/** The APIs of providers that do not support the first of them. */
const apisOfProviders: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  google: "google-generative-ai",
};

/** `PI_API` names a provider that pi knows, or an API for the server at the base URL. */
export function piModel(variables: Variables): PiModel {
  const read = (name: string): string | null => (variables[name] ?? "") || null;
  const named = read("PI_API");
  const isApi = named !== null && apis.has(named);
  const model = read("PI_MODEL");
  const speaksOpenai = named === null || named === "openai" || named.startsWith("openai-");
  const baseUrl = read("PI_BASE_URL") ?? (speaksOpenai ? read("OPENAI_BASE_URL") : null);
  const provider = isApi ? "custom" : (named ?? (baseUrl === null ? null : "custom"));
  const keyNames = provider === null ? [] : keyVariablesOf(provider);
  const flags = [...flag("--provider", model === null ? null : provider), ...flag("--model", model)];
  if (provider !== null && baseUrl !== null) {
    const keyName = ["PI_API_KEY", ...keyNames, "OPENAI_API_KEY"].find((name) => read(name) !== null);
    const api = isApi ? named : (apisOfProviders[provider] ?? "openai-completions");
    const apiKey = keyName === undefined ? "none" : `$${keyName}`;
    return { flags, variables: {}, custom: { provider, baseUrl, api, apiKey, model } };
  }
  const [keyName] = keyNames;
  const key = read("PI_API_KEY");
  const hasOwnKey = keyName === undefined || key === null || read(keyName) !== null;
  return { flags, variables: hasOwnKey ? {} : { [keyName]: key }, custom: null };
}

const name = "@earendil-works/pi-coding-agent";

/** https://pi.dev */
export const pi: AgentProgram = {
  title: "pi",
  install: () => ({
    name,
    version: "0.87.1",
    integrity: "sha512-m8ArJUtVcQMSe1lLE/Ei7vX/JV7O39sWmWBsXV2NOU70F0qCp8GubA24pT3LnwTmM6LL2xV80/h6sQg85n69ew==",
    program: `${name}/dist/bundle/cli.js`,
  }),
  start,
  readFacts,
};

/** An extension in the image, for models that pi does not know. */
const modelExtension = "/app/pi-model.mjs";
/** All of pi's tools: those that its default leaves out only read. */
const tools = "read,bash,edit,write,grep,find,ls";

function start({ sessionId, instructions, variables, stateFolder }: AgentTurn): AgentStart {
  const model = piModel(variables);
  return {
    command: [
      "pi",
      ...["--mode", "json", "--tools", tools, "--append-system-prompt", instructions.file],
      // The workspace's own `.pi` folder may have been written by an agent.
      "--no-approve",
      ...model.flags,
      ...(model.custom === null ? [] : ["--extension", modelExtension]),
      ...(sessionId === null ? [] : ["--session-id", sessionId]),
    ],
    folders: [`${stateFolder}/agent`],
    variables: {
      PI_CODING_AGENT_DIR: `${stateFolder}/agent`,
      PI_OFFLINE: "1",
      PI_TELEMETRY: "0",
      ...model.variables,
      ...(model.custom === null ? {} : { GLOVEBOX_PI_MODEL: JSON.stringify(model.custom) }),
    },
  };
}

function readFacts(line: JsonObject): readonly AgentFact[] {
  switch (line["type"]) {
    case "session":
      return sessionOf(textAt(line, "id"));
    case "message_end":
      return objectAt(line, "message")["role"] === "assistant" ? readMessage(objectAt(line, "message")) : [];
    case "tool_execution_start":
      return [{ kind: "calls", tool: textAt(line, "toolName") ?? "", input: summariseInput(objectAt(line, "args")) }];
    case "tool_execution_end":
      return [{ kind: "returns", tool: textAt(line, "toolName") ?? "", failed: line["isError"] === true }];
    case "auto_retry_start":
      return [{ kind: "note", text: `tries again: ${textAt(line, "errorMessage") ?? "the model failed"}` }];
    case "compaction_start":
      return [{ kind: "note", text: "shortens its memory of the conversation" }];
    default:
      return [];
  }
}

function readMessage(message: JsonObject): readonly AgentFact[] {
  const text = objectsAt(message, "content")
    .filter(({ type }) => type === "text")
    .map((block) => textAt(block, "text") ?? "")
    .join("\n");
  const reason = textAt(message, "stopReason");
  const failed = reason === "error" || reason === "aborted";
  return [
    ...(text.trim() === "" ? [] : [{ kind: "says", text } as const]),
    {
      kind: "usage",
      inputTokens: countAt(message, "usage", "input"),
      outputTokens: countAt(message, "usage", "output"),
    },
    ...(failed ? [{ kind: "fails", message: textAt(message, "errorMessage") ?? `it was ${reason}` } as const] : []),
  ];
}

function flag(name: string, value: string | null): readonly string[] {
  return value === null ? [] : [name, value];
}
