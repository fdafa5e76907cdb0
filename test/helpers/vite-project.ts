import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "./project-folder.ts";

const modules = path.join(projectFolder, "node_modules");

/** A project below that folder, with Vite and all that it needs in its `node_modules`, copied from this checkout. */
export function viteProject(root: string, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(root, "vite-"));
  for (const name of closureOf("vite")) {
    cpSync(path.join(modules, name), path.join(folder, "node_modules", name), { recursive: true, dereference: true });
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

/** A package and what it needs, if installed. */
function closureOf(first: string): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    const manifest = path.join(modules, name, "package.json");
    if (found.has(name) || !existsSync(manifest)) return;
    found.add(name);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as {
      readonly dependencies?: object;
      readonly optionalDependencies?: object;
    };
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) add(each);
  };
  add(first);
  return found;
}
