import { posix } from "node:path";
import type { Sources } from "./find-violations.ts";
import { readSource } from "./read-source.ts";

/** For each source, the sources that it imports, including type-only imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function readImportGraph(sources: Sources): ImportGraph {
  return new Map([...sources].map(([path, text]) => [path, importedFiles(path, text)]));
}

/**
 * The cycles of a graph: one line for each group of files that reach each other, with the shortest cycle through the
 * first of them.
 */
export function findCircles(graph: ImportGraph): readonly string[] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachedFrom(path, graph)]));
  const told = new Set<string>();
  const circles: string[] = [];
  for (const [path, reach] of [...reached].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (told.has(path) || !reach.has(path)) continue;
    for (const other of reach.keys()) if (reached.get(other)?.has(path) === true) told.add(other);
    circles.push(wayBack(path, reach).join(" -> "));
  }
  return circles;
}

function importedFiles(path: string, text: string): readonly string[] {
  const names = readSource(path, text).imports.filter((name) => name !== null);
  return names.filter((name) => name.startsWith(".")).map((name) => posix.join(posix.dirname(path), name));
}

/** Every file that can be reached from `start`, with the file from which it was first reached. */
function reachedFrom(start: string, graph: ImportGraph): ReadonlyMap<string, string> {
  const from = new Map<string, string>();
  const next = [start];
  for (let at = next.shift(); at !== undefined; at = next.shift()) {
    for (const target of graph.get(at) ?? []) {
      if (from.has(target)) continue;
      from.set(target, at);
      next.push(target);
    }
  }
  return from;
}

function wayBack(path: string, reach: ReadonlyMap<string, string>): readonly string[] {
  const way = [path];
  for (let at = reach.get(path); at !== undefined && at !== path; at = reach.get(at)) way.unshift(at);
  return [path, ...way];
}
