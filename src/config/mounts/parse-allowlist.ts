import type * as z from "zod";
import { nearest } from "../../base/nearest.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { jsonErrorPosition } from "../layers/json-error-position.ts";
import { allowlistSchema, type MountAllowlist } from "./allowlist-schema.ts";

/**
 * The mount allowlist in a file's text.
 * @throws INVALID_REQUEST naming line and column of what is not JSON, else every bad or unknown field
 */
export function parseAllowlist(text: string, name: string): MountAllowlist {
  const parsed = allowlistSchema.safeParse(parseJson(text.replace(/^\ufeff/, ""), name));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  throw new GloveboxError("INVALID_REQUEST", `The ${name} is not valid: ${problems.join("; ")}.`, {
    suggestion: "Correct the named fields; docs/mounts.md describes them all.",
    context: { problems },
  });
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    throw new GloveboxError("INVALID_REQUEST", `The ${name} is not JSON: error at line ${line}, column ${column}.`, {
      suggestion: "Correct the file there; JSON knows no comments and no comma after the last entry.",
      context: { line, column },
      cause,
    });
  }
}

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  const field = issue.path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : before ? `${before}.${String(part)}` : String(part),
    "",
  );
  if (issue.code !== "unrecognized_keys") return [`${field || "the file"}: expected ${issue.message}`];
  const known = ["allowedRoots", "blockedPatterns", "nonMainReadOnly", "path", "allowReadWrite", "description"];
  return issue.keys.map((key) => {
    const meant = nearest(key, known);
    const where = field === "" ? key : `${field}.${key}`;
    return `${where}: unknown field${meant === null ? "" : ` (did you mean ${meant}?)`}`;
  });
}
