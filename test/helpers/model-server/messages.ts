import { countIn, listOf, type ModelApi, type ModelTurn, type ServerEvent } from "./model-turn.ts";

/** Anthropic's messages, streamed: Claude Code. */
export const messages: ModelApi = {
  name: "messages",
  path: /\/v1\/messages$/,
  toolNames: (body) => listOf(body, "tools").map(({ name }) => String(name)),
  toolResults: (body) => countIn(body["messages"], '"type":"tool_result"'),
  events,
};

function events({ text, tools = [] }: ModelTurn, model: string): readonly ServerEvent[] {
  const blocks = [
    ...(text === undefined ? [] : [{ start: { type: "text", text: "" }, delta: { type: "text_delta", text } }]),
    ...tools.map(({ name, arguments: given }, index) => ({
      start: { type: "tool_use", id: `toolu_${name}_${index}`, name, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(given) },
    })),
  ];
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  const told: readonly Readonly<Record<string, unknown> & { type: string }>[] = [
    { type: "message_start", message },
    ...blocks.flatMap(({ start, delta }, index) => [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: tools.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: "message_stop" },
  ];
  return told.map((event) => [event.type, event]);
}
