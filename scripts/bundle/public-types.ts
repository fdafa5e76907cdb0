import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The language types that classes closed by `await using` need, whatever the user's `lib` is. */
const disposable = '/// <reference lib="esnext.disposable" />\n';
const specifiers = /((?:from|import\() ?")([^"]+)(")/g;

/**
 * Keeps only those types in a folder that can be reached from the entries: what users' compilers read. They depend on
 * nothing else, so that no project needs the types of Node or of a package that Glovebox uses.
 * @throws Error naming a file that imports a package
 */
export function keepPublicTypes(folder: string, entries: readonly string[]): void {
  const reached = new Set<string>();
  const waiting = entries.map((entry) => join(folder, entry));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const text = readFileSync(path, "utf8");
    for (const [, , specifier = ""] of text.matchAll(specifiers)) {
      if (!specifier.startsWith(".")) throw new Error(`${path}: public types import ${specifier}`);
      waiting.push(resolve(dirname(path), specifier.replace(/\.[jt]s$/, ".d.ts")));
    }
    const named = text.replaceAll(specifiers, (_, before: string, name: string, after: string) => {
      return `${before}${name.replace(/\.ts$/, ".js")}${after}`;
    });
    writeFileSync(path, named);
  }
  for (const entry of entries) {
    const path = join(folder, entry);
    writeFileSync(path, disposable + readFileSync(path, "utf8"));
  }
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))) {
    if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
}
