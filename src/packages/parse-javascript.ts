import { parseSync, type Comment } from "oxc-parser";
import type { Dialect } from "./dialects.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** A file as its parser read it. */
export interface ParsedJavaScript {
  readonly program: SyntaxNode;
  readonly comments: readonly Comment[];
  /** The first mistake; null where there is none. */
  readonly mistake: { readonly message: string; readonly start: number } | null;
}

/** Parses; loads the parser: for a process of its own. */
export function parseJavaScript(
  source: string,
  dialect: Dialect,
  sourceType: "module" | "unambiguous",
): ParsedJavaScript {
  const result = parseSync("file", source, { lang: dialect, sourceType, preserveParens: false });
  const [error] = result.errors;
  return {
    program: result.program as unknown as SyntaxNode,
    comments: result.comments,
    mistake: error === undefined ? null : { message: error.message, start: error.labels[0]?.start ?? 0 },
  };
}
