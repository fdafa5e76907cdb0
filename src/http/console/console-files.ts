import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConsoleFiles } from "./bundle-console.ts";

/** The page and its files, at paths that change with their content. */
export interface ConsoleAssets extends ConsoleFiles {
  readonly html: string;
  readonly scriptName: string;
  readonly styleName: string;
}

/** Reads the published files of the console; in a checkout they are bundled from the sources. */
export async function openConsoleAssets(): Promise<ConsoleAssets> {
  const isCheckout = import.meta.url.endsWith(".ts");
  const files = isCheckout ? await (await import("./bundle-console.ts")).bundleConsole() : await readPublished();
  const scriptName = `${digest(files.script)}.js`;
  const styleName = `${digest(files.style)}.css`;
  return { ...files, scriptName, styleName, html: pageOf({ scriptName, styleName }) };
}

async function readPublished(): Promise<ConsoleFiles> {
  const read = (name: string): Promise<string> => readFile(new URL(`../../console/${name}`, import.meta.url), "utf8");
  return { script: await read("console.js"), style: await read("console.css") };
}

/** Identifies a text, for caches. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234f5bd5'/%3E%3Cpath d='M9 9h14v14H9z' fill='none' stroke='white' stroke-width='2.5'/%3E%3Ccircle cx='16' cy='16' r='3' fill='white'/%3E%3C/svg%3E";

/** Contains nothing about this deployment, so everyone may load it. */
function pageOf({ scriptName, styleName }: Pick<ConsoleAssets, "scriptName" | "styleName">): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Glovebox</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/console/${styleName}">
<script type="module" src="/console/${scriptName}"></script>
</head>
<body>
<div id="console"><noscript>The console needs JavaScript. The API is described at <a href="/docs">/docs</a>.</noscript></div>
</body>
</html>
`;
}
