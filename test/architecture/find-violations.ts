import { builtinModules } from "node:module";
import { posix } from "node:path";
import {
  clockReaders,
  environmentReaders,
  layers,
  foldersWithout,
  onePlacePackages,
  rootFiles,
  siblings,
  splitFolders,
  type LayerRule,
} from "./layers.ts";
import { readSource } from "./read-source.ts";

/** Source files by their path from the project root, with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

const builtins = new Set(builtinModules);
const isTest = (path: string): boolean => path.endsWith(".test.ts");
const startsWithAny = (path: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => path.startsWith(prefix));

/** The layer of a file, or undefined for one directly under `src`. */
export function layerOf(path: string): string | undefined {
  const { folder, rest = "" } = /^src\/(?<folder>[^/]+)\/(?<rest>.+)/.exec(path)?.groups ?? {};
  const split = folder === undefined ? undefined : splitFolders[folder];
  if (split === undefined) return folder;
  return Object.keys(split).find((layer) => split[layer]?.test(rest));
}

/** `@scope/name/sub` and `name/sub` without the subpath. */
function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** The folder of a layer that contains a file: `docker` for `src/engines/docker/x.ts`. */
function siblingOf(path: string): string | undefined {
  return /^src\/[^/]+\/([^/]+)\//.exec(path)?.[1];
}

/** Whether a folder may import a shared one: every folder may; a shared one only those before it. */
function isBelow(shared: readonly string[], own: string | undefined, other: string): boolean {
  const place = shared.indexOf(own ?? "");
  return (place < 0 ? shared : shared.slice(0, place)).includes(other);
}

function checkRelative(path: string, specifier: string, rule: LayerRule): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  if (isTest(path) && target.startsWith("test/")) return undefined;
  if (!target.startsWith("src/")) return `leaves src: ${specifier}`;
  const [from, to] = [layerOf(path), layerOf(target)];
  if (to === undefined) return `imports ${target}, which nothing below may import`;
  if (from !== to) return rule.layers.includes(to) ? undefined : `layer ${from ?? "root"} may not import layer ${to}`;
  const apart = siblings[to];
  const [own, other] = [siblingOf(path), siblingOf(target)];
  if (!apart || other === undefined || own === other || isBelow(apart.shared, own, other)) return undefined;
  return apart.wiring.includes(path)
    ? undefined
    : `${own ?? "files of the layer"} may not import its sibling ${to}/${other}`;
}

function checkImport(path: string, specifier: string | null, rule: LayerRule): string | undefined {
  if (specifier === null) return "imports a module whose name is computed";
  if (specifier.startsWith(".")) return checkRelative(path, specifier, rule);
  if (specifier.startsWith("node:") || builtins.has(specifier)) {
    if (!specifier.startsWith("node:")) return `writes ${specifier} without node:`;
    const isWithout = Object.entries(foldersWithout).some(
      ([folder, without]) => path.startsWith(folder) && without.includes(specifier),
    );
    if (isWithout && !isTest(path)) return `has no business with ${specifier}`;
    return isTest(path) || rule.builtins === "any" || rule.builtins.includes(specifier)
      ? undefined
      : `may not import ${specifier}`;
  }
  const name = packageOf(specifier);
  return rule.packages.includes(name) || (isTest(path) && name === "vitest")
    ? undefined
    : `may not import package ${name}`;
}

/** Everything in the sources that the import table refuses, one line each. */
export function findViolations(sources: Sources): readonly string[] {
  const found: string[] = [];
  const places = new Map<string, Set<string>>(onePlacePackages.map((name) => [name, new Set()]));
  for (const [path, text] of sources) {
    const layer = layerOf(path);
    const rule = layer === undefined ? rootFiles[path] : layers[layer];
    if (!rule) {
      found.push(`${path}: stands in no layer of the table`);
      continue;
    }
    const facts = readSource(path, text);
    for (const specifier of facts.imports) {
      const reason = checkImport(path, specifier, rule);
      if (reason !== undefined) found.push(`${path}: ${reason}`);
      if (specifier !== null) places.get(packageOf(specifier))?.add(path);
    }
    if (isTest(path)) continue;
    if (!startsWithAny(path, environmentReaders)) {
      for (const read of facts.environment) found.push(`${path}: reads the environment (${read})`);
    }
    if (!startsWithAny(path, clockReaders)) {
      for (const read of facts.clock) found.push(`${path}: reads the clock or randomness (${read})`);
    }
  }
  for (const [name, files] of places) {
    if (files.size > 1) found.push(`${name} is imported in more than one file: ${[...files].toSorted().join(", ")}`);
  }
  return found;
}
