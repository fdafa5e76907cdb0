import { E2bRefusal } from "../http/refusal.ts";

/** What a template's name stands for here. */
export interface E2bTemplate {
  readonly name: string;
  /** Whether an interpreter of each language lives as long as the sandbox. */
  readonly keepsVariables: boolean;
}

/** The SDKs' own defaults; both have the image of the deployment's sessions. */
const templates: readonly E2bTemplate[] = [
  { name: "base", keepsVariables: false },
  { name: "code-interpreter-v1", keepsVariables: true },
];

/** Those that exist, for lists. */
export const templateNames: readonly string[] = templates.map(({ name }) => name);

/** The template of that name, `:default` and `:latest` included. @throws E2bRefusal 404 that names those that exist */
export function findTemplate(asked: string): E2bTemplate {
  const name = asked.replace(/:(?:default|latest)$/, "");
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const shown = JSON.stringify(asked.slice(0, 80));
  throw new E2bRefusal(404, `templateID: expected ${templateNames.join(" or ")}, got ${shown}`);
}
