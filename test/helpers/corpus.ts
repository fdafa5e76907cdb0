import { existsSync, readFileSync } from "node:fs";
import type { ExecuteRequest, ExecuteResponse } from "./wire-glovebox.ts";

/** A program with a known verdict. */
export interface Snippet {
  readonly id: string;
  readonly language: "python" | "javascript" | "typescript";
  readonly code: string;
  readonly expect: { readonly exit_code: number; readonly stdout: string };
}

export interface Verdict {
  readonly snippet: Snippet;
  readonly response: ExecuteResponse;
  /** Null if the program gave its known verdict, else a description of the difference. */
  readonly difference: string | null;
}

export const languages = ["python", "javascript", "typescript"] as const;

const folder = new URL("../../../shared/corpus/snippets/", import.meta.url);

/** Whether the corpus is next to this checkout. */
export const corpusPresent: boolean = existsSync(folder);

export function readSnippets(language: Snippet["language"]): Snippet[] {
  const lines = readFileSync(new URL(`${language}.jsonl`, folder), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Snippet);
}

/** Runs the snippets, three at a time unless told otherwise, and compares each with its known verdict. */
export async function runSnippets(
  execute: (request: ExecuteRequest) => Promise<ExecuteResponse>,
  snippets: readonly Snippet[],
  atOnce = 3,
): Promise<Verdict[]> {
  const queue = [...snippets];
  const verdicts: Verdict[] = [];
  const worker = async (): Promise<void> => {
    for (let snippet = queue.shift(); snippet !== undefined; snippet = queue.shift()) {
      const response = await execute({ language: snippet.language, code: snippet.code });
      verdicts.push({ snippet, response, difference: differenceOf(snippet, response) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return verdicts;
}

function differenceOf({ expect }: Snippet, response: ExecuteResponse): string | null {
  const outcome = expect.exit_code === 0 ? "completed" : "failed";
  if (response.outcome !== outcome)
    return `outcome ${response.outcome}, expected ${outcome}: ${response.stderr.slice(-200)}`;
  if (response.exit_code !== expect.exit_code) return `exit code ${response.exit_code}, expected ${expect.exit_code}`;
  if (response.stdout !== expect.stdout) return `stdout ${JSON.stringify(response.stdout.slice(0, 200))}`;
  return null;
}
