import type { CallToolResult } from "@modelcontextprotocol/client";

/** What a model gets of one answer. */
export interface Seen {
  readonly words: string;
  /** In base64. */
  readonly pictures: readonly string[];
}

/** What a kind of client makes of an answer before its model sees it. */
export interface ClientKind {
  readonly name: string;
  /** Clients that behave like this, as of November 2026. */
  readonly examples: string;
  /** How a model behind it gets to see a plot. */
  readonly picture: "in the answer" | "by `view_artifact`" | "only mentioned";
  /** @throws Error for an answer that it cannot show */
  readonly seenOf: (result: CallToolResult) => Seen;
}

type Content = CallToolResult["content"];

const wordsOf = (content: Content): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
const picturesOf = (content: Content): readonly string[] =>
  content.flatMap((block) => (block.type === "image" ? [block.data] : []));

/** The kinds of clients, by which half of an answer their model sees. */
export const clientKinds: readonly ClientKind[] = [
  {
    name: "the content: text and pictures",
    examples: "Claude Desktop, Cursor, the SDKs' examples",
    picture: "in the answer",
    seenOf: ({ content }) => ({ words: wordsOf(content), pictures: picturesOf(content) }),
  },
  {
    name: "only the text",
    examples: "clients of models that cannot see images",
    picture: "only mentioned",
    seenOf: ({ content }) => ({ words: wordsOf(content), pictures: [] }),
  },
  {
    name: "only the structured content; the content if there is none",
    examples: "Claude Code, Codex",
    picture: "by `view_artifact`",
    seenOf: ({ content, structuredContent }) =>
      structuredContent === undefined
        ? { words: wordsOf(content), pictures: picturesOf(content) }
        : { words: JSON.stringify(structuredContent), pictures: [] },
  },
  {
    name: "both halves",
    examples: "GitHub Copilot in VS Code",
    picture: "in the answer",
    seenOf: ({ content, structuredContent }) => ({
      words: `${wordsOf(content)}\n${JSON.stringify(structuredContent ?? {})}`,
      pictures: picturesOf(content),
    }),
  },
  {
    name: "a widget with the structured content, the text to the model; no link beside a widget",
    examples: "apps (MCP Apps)",
    picture: "in the answer",
    seenOf: ({ content, structuredContent }) => {
      const foreign = content.filter(({ type }) => type !== "text" && type !== "image");
      if (structuredContent !== undefined && foreign.length > 0) {
        throw new Error(`A widget's answer cannot have ${foreign.map(({ type }) => type).join(", ")} beside it.`);
      }
      return { words: wordsOf(content), pictures: picturesOf(content) };
    },
  },
];
