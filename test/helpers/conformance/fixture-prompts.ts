import type {
  CompleteRequest,
  CompleteResult,
  ContentBlock,
  GetPromptRequest,
  GetPromptResult,
  Prompt,
} from "@modelcontextprotocol/server";
import { onePixel } from "./fixture-handlers.ts";

interface FixturePrompt extends Prompt {
  readonly contents: (given: Readonly<Record<string, string>>) => readonly ContentBlock[];
}

const text = (words: string): ContentBlock => ({ type: "text", text: words });

const prompts: readonly FixturePrompt[] = [
  {
    name: "test_simple_prompt",
    description: "No arguments.",
    contents: () => [text("This is a simple prompt for testing.")],
  },
  {
    name: "test_prompt_with_arguments",
    description: "Two arguments.",
    arguments: [
      { name: "arg1", required: true },
      { name: "arg2", required: true },
    ],
    contents: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "Embeds a resource.",
    arguments: [{ name: "resourceUri", required: true }],
    contents: ({ resourceUri: uri = "" }) => [
      { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." } },
      text("Please process the embedded resource above."),
    ],
  },
  {
    name: "test_prompt_with_image",
    description: "Has a picture.",
    contents: () => [{ type: "image", mimeType: "image/png", data: onePixel }, text("Please analyze the image above.")],
  },
];

export const fixturePrompts: readonly Prompt[] = prompts.map(({ contents: _, ...prompt }) => prompt);

export function getPrompt({ name, arguments: given = {} }: GetPromptRequest["params"]): GetPromptResult {
  const contents = promptNamed(name).contents(given);
  return { messages: contents.map((content) => ({ role: "user", content })) };
}

export function completePrompt({ ref, argument }: CompleteRequest["params"]): CompleteResult {
  const names = ref.type === "ref/prompt" ? (promptNamed(ref.name).arguments ?? []).map(({ name }) => name) : [];
  const values = names.includes(argument.name) ? ["paris", "park", "party", "testing"] : [];
  return { completion: { values: values.filter((value) => value.startsWith(argument.value)), hasMore: false } };
}

function promptNamed(name: string): FixturePrompt {
  const found = prompts.find((prompt) => prompt.name === name);
  if (found === undefined) throw new Error(`There is no prompt ${name}.`);
  return found;
}
