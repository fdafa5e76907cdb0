import { languageTable } from "../languages/language-table.ts";
import type { RunCodeRequest } from "../operations/session-contract.ts";
import { E2bRefusal } from "./refusal.ts";

type Language = NonNullable<RunCodeRequest["language"]>;

/** What code of a sandbox can be written in. */
export type InterpreterLanguage = Language | "bash";

/** What clients may call each language. */
const languages: ReadonlyMap<string, InterpreterLanguage> = new Map([
  ...languageTable.flatMap(({ name, shortNames }) =>
    [name, ...shortNames].map((each) => [each, name as Language] as const),
  ),
  ["bash", "bash"] as const,
]);

/** The language of that name; none: Python. @throws E2bRefusal 400 for one that has no interpreter here */
export function findLanguage(asked = "python"): InterpreterLanguage {
  const name = asked.trim().toLowerCase();
  const found = languages.get(name);
  if (found !== undefined) return found;
  const shown = JSON.stringify(asked.slice(0, 40));
  throw new E2bRefusal(400, `language: expected ${[...languages.keys()].join(", ")}, got ${shown}`);
}

/** The context of Bash; others of it have names that begin so. */
export const bashContext = "bash";

/** Whether the shell of the context's interpreter runs its code. */
export function isBash(context: string): boolean {
  return context === bashContext || context.startsWith(`${bashContext}-`);
}

/** The code as its interpreter takes it: that of Python keeps the shell that runs Bash. */
export function inInterpreter(
  language: InterpreterLanguage,
  code: string,
): Pick<RunCodeRequest, "language" | "packages" | "code"> {
  return language === "bash" ? { language: "python", code: `%%bash\n${code}`, packages: [] } : { language, code };
}
