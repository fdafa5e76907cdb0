import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** What classes that are closed by `await using` need of the language, whatever the user's `lib` is. */
const disposable = '/// <reference lib="esnext.disposable" />\n';
const specifiers = /((?:from|import\() ?")([^"]+)(")/g;

/**
 * Leaves, of the types in a folder, those that can be reached from the entries: what users' compilers read. They stand on
 * nothing but themselves, so that no project needs the types of a package that Glovebox uses, or Node's.
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
