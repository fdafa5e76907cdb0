import type { Config, ConfiguredTemplate } from "../config/config.ts";
import { E2bRefusal } from "./refusal.ts";

/** What a template's name stands for here. */
export type E2bTemplate = ConfiguredTemplate;

const maxNamed = 20;

/** The template of that name, `:default` and `:latest` included. @throws E2bRefusal 404 that names those that exist */
export function findTemplate({ templates }: Pick<Config, "templates">, asked: string): E2bTemplate {
  const name = asked.replace(/:(?:default|latest)$/, "");
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = templates.slice(0, maxNamed).map((template) => template.name);
  const last = templates.length > maxNamed ? `others (${templates.length} in all)` : names.pop();
  const shown = JSON.stringify(asked.slice(0, 80));
  throw new E2bRefusal(
    404,
    `templateID: expected ${names.join(", ")} or ${last}, got ${shown}. The operator can add it: e2b.templates (GLOVEBOX_E2B_TEMPLATES)`,
  );
}
