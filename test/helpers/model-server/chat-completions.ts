import { listOf, type Json, type ModelApi, type ModelTurn, type ServerEvent } from "./model-turn.ts";

/** OpenAI's chat completions, streamed: `pi`, opencode and most servers of open models. */
export const chatCompletions: ModelApi = {
  name: "chat-completions",
  path: /\/chat\/completions$/,
  toolNames: (body) => listOf(body, "tools").map((tool) => String((tool["function"] as Json)["name"])),
  toolResults: (body) => listOf(body, "messages").filter(({ role }) => role === "tool").length,
  events,
};

function events({ text = "", tools = [] }: ModelTurn, model: string): readonly ServerEvent[] {
  const chunk = (choices: readonly unknown[], rest = {}): ServerEvent => [
    null,
    { id: "chat-1", object: "chat.completion.chunk", created: 1, model, choices, ...rest },
  ];
  const delta = (part: unknown, finish: string | null = null): ServerEvent =>
    chunk([{ index: 0, delta: part, finish_reason: finish }]);
  const half = Math.ceil(text.length / 2);
  return [
    delta({ role: "assistant", content: "" }),
    ...[text.slice(0, half), text.slice(half)]
      .filter((piece) => piece !== "")
      .map((piece) => delta({ content: piece })),
    ...tools.map(({ name, arguments: given }, index) =>
      delta({
        tool_calls: [
          {
            index,
            id: `call_${name}_${index}`,
            type: "function",
            function: { name, arguments: JSON.stringify(given) },
          },
        ],
      }),
    ),
    delta({}, tools.length > 0 ? "tool_calls" : "stop"),
    chunk([], { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
    [null, "[DONE]"],
  ];
}
