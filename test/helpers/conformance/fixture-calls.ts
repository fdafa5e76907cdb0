import type { ContentBlock, ElicitRequestFormParams, ServerContext } from "@modelcontextprotocol/server";
import { onePixel } from "./fixture-handlers.ts";

type Fixture = (request: ServerContext["mcpReq"], given: Readonly<Record<string, unknown>>) => Promise<ContentBlock[]>;

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const resource = (uri: string, mimeType: string, words: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text: words },
});

/** A WAV file without any samples. */
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const defaults = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
} as const;

const titled = ["First", "Second", "Third"].map((word, index) => ({ const: `value${index + 1}`, title: word }));
const untitled = ["option1", "option2", "option3"];
const enums = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: untitled },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", items: { type: "string", enum: untitled } },
    titledMulti: { type: "array", items: { anyOf: titled } },
  },
} as const;

const credentials = {
  type: "object",
  properties: { username: { type: "string" }, email: { type: "string" } },
  required: ["username", "email"],
} as const;

/** Asks the client's user. */
function elicits(schema: object): Fixture {
  return async (request, { message }) => {
    const asked = { message: typeof message === "string" ? message : "Please answer.", requestedSchema: schema };
    // The suite speaks a revision in which servers ask. If the question were not related to its call, it would go to the
    // stream of GET, which may not be open yet, and be lost.
    const related = { relatedRequestId: request.id };
    // oxlint-disable-next-line typescript/no-deprecated
    const { action, content } = await request.elicitInput(asked as ElicitRequestFormParams, related);
    return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)];
  };
}

/** Tools of the conformance suite that answer in ways that no tool of Glovebox does. */
export const fixtureCalls: Readonly<Record<string, Fixture>> = {
  test_audio_content: async () => [{ type: "audio", mimeType: "audio/wav", data: silence }],
  test_embedded_resource: async () => [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ],
  test_multiple_content_types: async () => [
    text("Multiple content types test:"),
    { type: "image", mimeType: "image/png", data: onePixel },
    resource("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
  ],
  test_tool_with_logging: async (request) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      // oxlint-disable-next-line typescript/no-deprecated
      await request.log("info", words);
    }
    return [text("Logged.")];
  },
  test_sampling: async (request, { prompt }) => {
    // oxlint-disable-next-line typescript/no-deprecated
    const { content } = await request.requestSampling(
      { messages: [{ role: "user", content: { type: "text", text: String(prompt) } }], maxTokens: 100 },
      { relatedRequestId: request.id },
    );
    return [text(`LLM response: ${JSON.stringify(content)}`)];
  },
  test_elicitation: elicits(credentials),
  test_elicitation_sep1034_defaults: elicits(defaults),
  test_elicitation_sep1330_enums: elicits(enums),
};
