import type { RunCodeRequest } from "../../operations/session/run-code-contract.ts";
import { E2bRefusal } from "../http/refusal.ts";

type Language = NonNullable<RunCodeRequest["language"]>;

/** What clients may call each language. */
const languages: Readonly<Record<string, Language>> = {
  python: "python",
  javascript: "javascript",
  js: "javascript",
  typescript: "typescript",
  ts: "typescript",
};

/** The language of that name; none: Python. @throws E2bRefusal 400 for one that has no interpreter here */
export function findLanguage(asked = "python"): Language {
  const name = asked.trim().toLowerCase();
  const found = Object.hasOwn(languages, name) ? languages[name] : undefined;
  if (found !== undefined) return found;
  const shown = JSON.stringify(asked.slice(0, 40));
  const instead = name === "bash" ? "; run shell lines with commands" : "";
  throw new E2bRefusal(400, `language: expected ${Object.keys(languages).join(", ")}, got ${shown}${instead}`);
}
