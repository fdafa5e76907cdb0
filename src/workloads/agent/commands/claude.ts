import {
  sessionOf,
  summariseInput,
  type AgentFact,
  type AgentProgram,
  type AgentStart,
  type AgentTurn,
} from "./agent-program.ts";
import { countAt, objectAt, objectsAt, textAt, type JsonObject } from "./json-fields.ts";

/** https://code.claude.com */
export const claude: AgentProgram = {
  title: "Claude Code",
  // Only the package for the platform: the main package merely selects it, with an installation script.
  install: ({ cpu, libc }) => {
    const name = `@anthropic-ai/claude-code-linux-${cpu}${libc === "musl" ? "-musl" : ""}`;
    return { name, version: "2.1.330", program: `${name}/claude` };
  },
  start,
  readFacts,
};

function start({ sessionId, instructions, variables, stateFolder }: AgentTurn): AgentStart {
  const model = variables["PI_MODEL"] ?? "";
  return {
    command: [
      "claude",
      ...["--print", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"],
      ...["--append-system-prompt-file", instructions.file],
      ...(model === "" ? [] : ["--model", model]),
      ...(sessionId === null ? [] : ["--resume", sessionId]),
    ],
    folders: [`${stateFolder}/claude`],
    variables: {
      CLAUDE_CONFIG_DIR: `${stateFolder}/claude`,
      // Without this it refuses to run unattended if a project belongs to root.
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  };
}

function readFacts(line: JsonObject): readonly AgentFact[] {
  // What one of its subagents says is not its answer.
  const isHelper = textAt(line, "parent_tool_use_id") !== null;
  switch (line["type"]) {
    case "system":
      return line["subtype"] === "init" ? sessionOf(textAt(line, "session_id")) : [];
    case "assistant":
      return objectsAt(line, "message", "content").flatMap((block) => readBlock(block, isHelper));
    case "user":
      return objectsAt(line, "message", "content")
        .filter(({ type }) => type === "tool_result")
        .map(({ is_error: isError }) => ({ kind: "returns", tool: "", failed: isError === true }));
    case "result":
      return readResult(line);
    default:
      return [];
  }
}

function readBlock(block: JsonObject, isHelper: boolean): readonly AgentFact[] {
  const text = textAt(block, "text") ?? "";
  if (block["type"] === "text") {
    if (text === "") return [];
    return isHelper ? [{ kind: "note", text }] : [{ kind: "says", text }];
  }
  if (block["type"] !== "tool_use") return [];
  return [{ kind: "calls", tool: textAt(block, "name") ?? "", input: summariseInput(objectAt(block, "input")) }];
}

function readResult(line: JsonObject): readonly AgentFact[] {
  const text = textAt(line, "result");
  const failed = line["is_error"] === true || (line["subtype"] !== "success" && line["subtype"] !== undefined);
  return [
    {
      kind: "usage",
      inputTokens: countAt(line, "usage", "input_tokens"),
      outputTokens: countAt(line, "usage", "output_tokens"),
    },
    ...(failed ? [{ kind: "fails", message: text ?? textAt(line, "subtype") ?? "it failed" } as const] : []),
    ...(!failed && text !== null ? [{ kind: "answers", text } as const] : []),
  ];
}
