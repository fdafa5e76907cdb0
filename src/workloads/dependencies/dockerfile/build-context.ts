import { createHash, type Hash } from "node:crypto";
import { CopyBudget } from "../../../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import { readHostTree, type TreeFilter } from "../../../sandbox/copy/read-host-tree.ts";
import type { NewTreeEntry } from "../../../sandbox/files/file-facts.ts";
import { maxEntries, type ProjectSource } from "../../project/copy-project.ts";
import { ignoringFilter } from "../../project/project-tree.ts";
import type { ContextIgnore } from "./context-ignore.ts";
import { relate, type PathPattern } from "./path-pattern.ts";

/** The part of a project that its Dockerfile copies. */
export interface ContextSource extends ProjectSource {
  readonly ignore: ContextIgnore;
  /** Patterns of COPY; empty: nothing is read. */
  readonly patterns: readonly PathPattern[];
  readonly platform: NodeJS.Platform;
}

/** Its files, to be read once, and their digest. */
export interface ReadContext {
  readonly entries: AsyncIterable<NewTreeEntry>;
  /** Digest of names, modes and bytes; complete once all entries have been read. */
  readonly digest: () => string;
}

/**
 * Files of the project for one build: those that its copy would have, except what `.dockerignore` excludes. Links are
 * links.
 * @throws POLICY_DENIED while reading, for more than fits
 */
export function readContext(source: ContextSource): ReadContext {
  const hash = createHash("sha256");
  return { entries: hashed(entriesOf(source), hash), digest: () => hash.digest("hex") };
}

async function* entriesOf(source: ContextSource): AsyncGenerator<NewTreeEntry, void, undefined> {
  const { patterns, project, includeIgnored, maxBytes, platform } = source;
  if (patterns.length === 0) return;
  await using folder = await HostFolder.of(project, platform);
  // What is left out, the copy of the same project names.
  const notes = { onLeftOut: () => undefined, onUnknown: () => undefined };
  const filter = contextFilter(source, includeIgnored ? undefined : ignoringFilter(notes));
  yield* readHostTree(folder, new CopyBudget({ maxBytes, maxEntries }), { filter });
}

function contextFilter(source: ContextSource, inner: TreeFilter | undefined): TreeFilter {
  return {
    enter: async (folder, prefix) => {
      const rules = await inner?.enter(folder, prefix);
      return {
        takes: (path, name, isFolder) =>
          isWanted(source, path, isFolder) && (rules === undefined || rules.takes(path, name, isFolder)),
        below: (path, name) => contextFilter(source, rules?.below(path, name)),
      };
    },
  };
}

function isWanted({ ignore, patterns }: ContextSource, path: string, isFolder: boolean): boolean {
  if (ignore.ignores(path) && !(isFolder && ignore.hasExceptions)) return false;
  const parts = path.split("/");
  return patterns.some((pattern) => {
    const relation = relate(pattern, parts);
    return relation === "is" || relation === "below" || (isFolder && relation === "above");
  });
}

async function* hashed(
  entries: AsyncIterable<NewTreeEntry>,
  hash: Hash,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for await (const entry of entries) {
    const { kind, path, mode } = entry;
    const more = entry.kind === "file" ? entry.sizeBytes : "target" in entry ? entry.target : null;
    hash.update(`${JSON.stringify([kind, path, mode, more])}\n`);
    yield entry.kind === "file" ? { ...entry, chunks: hashedBytes(entry.chunks, hash) } : entry;
  }
}

async function* hashedBytes(
  chunks: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}
