import type { JsonObject } from "./json-schemas.ts";

interface Entry {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (JsonObject & { readonly name?: string; readonly in?: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** The document as a single readable page without other files. */
export function documentationPage(document: JsonObject): string {
  const { info, paths } = document as {
    readonly info: { readonly title: string; readonly version: string; readonly description: string };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  };
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => section(`${method.toUpperCase()} ${path}`, entry)),
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(info.title)}</title><style>${style}</style>
<h1>${escape(info.title)} ${escape(info.version)}</h1><p>${escape(info.description)}</p>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
${entries.join("\n")}</html>`;
}

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "code,summary{font-family:ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}td{vertical-align:top;padding:.2rem .6rem .2rem 0}";

function section(title: string, { summary, description, parameters = [], requestBody, responses }: Entry): string {
  const { properties = {}, required = [] } = (requestBody?.content["application/json"]?.schema ?? {}) as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
  };
  const rows = [
    ...parameters.filter(({ name }) => name !== undefined).map((each) => row(`${each.name}`, `${each.in}`, each)),
    ...Object.entries(properties).map(([name, field]) => row(name, required.includes(name) ? "required" : "", field)),
  ];
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const told = answers.map(([status, answer]) => `<p><b>${status}</b> ${escape(answer.description)}</p>`);
  return `<details><summary><b>${escape(title)}</b> ${escape(summary)}</summary><p>${escape(description)}</p><table>${rows.join("")}</table>${told.join("")}</details>`;
}

function row(name: string, kind: string, { description }: JsonObject): string {
  const words = typeof description === "string" ? description : "";
  return `<tr><td><code>${escape(name)}</code><td>${escape(kind)}<td>${escape(words)}</tr>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
