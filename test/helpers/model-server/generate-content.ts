import { countIn, listOf, type ModelApi, type ModelTurn, type ServerEvent } from "./model-turn.ts";

/** Google's generateContent, streamed: Gemini CLI. */
export const generateContent: ModelApi = {
  name: "generate-content",
  path: /:(?:streamG|g)enerateContent$/,
  toolNames: (body) =>
    listOf(body, "tools").flatMap((tool) => listOf(tool, "functionDeclarations").map(({ name }) => String(name))),
  toolResults: (body) => countIn(body["contents"], '"functionResponse":'),
  events,
};

function events({ text, tools = [] }: ModelTurn, model: string): readonly ServerEvent[] {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...tools.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
  ];
  return [
    [
      null,
      {
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
        modelVersion: model,
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
      },
    ],
  ];
}
