import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "./project-folder.ts";

interface Manifest {
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Copies packages of this repository, with all that they need, into the `node_modules` of a project: test runners are then
 * available without a registry. Files that only editors and people read are left out.
 */
export function copyPackages(names: readonly string[], project: string): void {
  const taken = new Set<string>();
  for (const name of names) {
    const own = find(name, projectFolder);
    if (own === null) throw new Error(`There is no package ${name}: npm ci`);
    take(own, taken);
  }
  for (const each of taken) {
    const to = path.join(project, path.relative(projectFolder, each));
    const deeper = path.join(each, "node_modules");
    const filter = (from: string): boolean => from !== deeper && !/\.(?:d\.[cm]?ts|map|md)$|\/@types$/.test(from);
    cpSync(each, to, { recursive: true, filter });
  }
  for (const name of names) linkPrograms(name, path.join(project, "node_modules"));
}

function linkPrograms(name: string, modules: string): void {
  const { bin = {} } = manifestOf(path.join(modules, name));
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  for (const [program, file] of Object.entries(typeof bin === "string" ? { [name]: bin } : bin)) {
    symlinkSync(path.join("..", name, file), path.join(modules, ".bin", program));
  }
}

function take(folder: string, taken: Set<string>): void {
  if (taken.has(folder)) return;
  taken.add(folder);
  const { dependencies, optionalDependencies } = manifestOf(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    // An optional dependency may be for another platform.
    const found = find(name, folder);
    if (found !== null) take(found, taken);
  }
}

/** Where Node finds a package from a folder, without looking above this repository. */
function find(name: string, from: string): string | null {
  for (let folder = from; `${folder}/`.startsWith(projectFolder); folder = path.dirname(folder)) {
    const there = path.join(folder, "node_modules", name);
    if (existsSync(path.join(there, "package.json"))) return there;
  }
  return null;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
}
