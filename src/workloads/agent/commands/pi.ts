import type { AgentFact } from "./agent-fact.ts";
import { sessionOf, summariseInput } from "./agent-fact.ts";
import type { AgentProgram, AgentStart, AgentTurn } from "./agent-program.ts";
import { countAt, objectAt, objectsAt, textAt, type JsonObject } from "./json-fields.ts";
import { piModel } from "./pi-model.ts";

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
