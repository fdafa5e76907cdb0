import { listOf, type ModelApi, type ModelTurn, type ServerEvent } from "./model-turn.ts";

/** OpenAI's responses, streamed: Codex. */
export const responses: ModelApi = {
  name: "responses",
  path: /\/responses$/,
  toolNames: (body) => listOf(body, "tools").map((tool) => String(tool["name"] ?? tool["type"])),
  toolResults: (body) => listOf(body, "input").filter(({ type }) => String(type).endsWith("call_output")).length,
  events,
};

function events({ text, tools = [] }: ModelTurn, model: string): readonly ServerEvent[] {
  const items = [
    ...(text === undefined
      ? []
      : [
          {
            type: "message",
            role: "assistant",
            id: "msg_1",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]),
    ...tools.map(({ name, arguments: given }, index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: `call_${name}_${index}`,
      name,
      arguments: JSON.stringify(given),
    })),
  ];
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 120,
  };
  const response = { id: "resp_1", object: "response", model, output: items, usage, status: "completed" };
  const told: readonly Readonly<Record<string, unknown> & { type: string }>[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    ...items.flatMap((item, index) => [
      { type: "response.output_item.added", output_index: index, item },
      { type: "response.output_item.done", output_index: index, item },
    ]),
    { type: "response.completed", response },
  ];
  return told.map((event, index) => [event.type, { ...event, sequence_number: index }]);
}
