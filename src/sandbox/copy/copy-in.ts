import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeFile, TreeFolder } from "../files/file-way.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";
import path from "node:path";
import type { CopyBudget } from "./copy-budget.ts";
import { modeOnHost, onHost, findOnHost } from "./on-host.ts";
import { readHostFile, readHostTree } from "./read-host-tree.ts";

/** The part of a sandbox's files that a copy into it needs. */
export type InsideFilesToPlace = Pick<SandboxFiles, "list" | "write" | "writeTree">;

/** A file, or a folder and all below it, on its way into a sandbox. */
export interface NewTop {
  /** Its own name, if the target is the folder to put it in. */
  readonly name: string;
  /** Whether only the folder's content is meant. */
  readonly isContentOnly: boolean;
  readonly first: TreeFile | TreeFolder;
  /** What is below the folder. */
  readonly rest: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>;
}

/** Puts it where `docker cp` would; missing folders are created. @throws what `SandboxFiles` throws */
export async function placeInside(
  files: InsideFilesToPlace,
  target: string,
  { name, isContentOnly, first, rest }: NewTop,
  options: CallOptions,
): Promise<void> {
  const place = await placeOf(files, target, options);
  if (first.kind === "folder") {
    if (place === "other") throw wrongPlace(target, "is no folder in the sandbox");
    const isMerged = place === "folder" && isContentOnly;
    const inside = place === "folder" && !isContentOnly ? below(target, name) : target;
    await files.writeTree(inside, isMerged ? rest : withTop(first, rest), options);
    return;
  }
  if (place === "nothing" && target.endsWith("/")) throw wrongPlace(target, "is no folder in the sandbox");
  await files.write(place === "folder" ? below(target, name) : target, first, { mode: first.mode, ...options });
}

interface HostSource {
  /**
   * Path of this machine on which no link is followed (see `findOnHost`); links below are copied as links. Ending in `/.`:
   * what is in the folder, without the folder.
   */
  readonly source: string;
  readonly budget: CopyBudget;
  readonly platform: NodeJS.Platform;
  /** Where relative paths of this machine start. */
  readonly workingDirectory: string;
}

interface CopyIn extends HostSource {
  readonly files: InsideFilesToPlace;
  /** Absolute path inside. */
  readonly target: string;
}

/**
 * Copies a file or a folder into a sandbox, to the target that `docker cp` would choose; missing folders are created.
 * What was written before a failure stays. @throws what `SandboxFiles.write` and `writeTree` throw, and for what cannot
 * be read here
 */
export async function copyIn({ files, target, ...from }: CopyIn, options: CallOptions): Promise<void> {
  await withHostSource(from, (top) => placeInside(files, target, top, options));
}

/** Opens a file or a folder of this machine for the duration of the work. @throws for what cannot be read here */
export async function withHostSource<T>(from: HostSource, work: (top: NewTop) => Promise<T>): Promise<T> {
  const { source, budget, platform, workingDirectory } = from;
  const given = path.resolve(workingDirectory, source);
  await using found = await findOnHost(given, platform);
  const there = found.stat;
  const name = path.basename(given);
  if (there.isDirectory()) {
    await using folder = await onHost(source, found.parent.enter(found.name));
    const facts = { kind: "folder", path: "", mode: modeOnHost(there, platform), modifiedAtMs: there.mtimeMs } as const;
    const isContentOnly = /(?:^|[/\\])\.$/.test(source);
    return await work({ name, isContentOnly, first: facts, rest: readHostTree(folder, budget) });
  }
  if (!there.isFile()) throw wrongPlace(source, "is neither a file nor a folder");
  for await (const first of readHostFile({ folder: found.parent, name: found.name }, name, budget)) {
    return await work({ name, isContentOnly: false, first, rest: [] });
  }
  throw wrongPlace(source, "is neither a file nor a folder");
}

/** What is at a path inside; links are followed there. */
async function placeOf(
  files: InsideFilesToPlace,
  target: string,
  options: CallOptions,
): Promise<"folder" | "other" | "nothing"> {
  try {
    await files.list(target, { maxEntries: 1, ...options });
    return "folder";
  } catch (error) {
    const type = error instanceof GloveboxError ? error.errorType : null;
    if (type === "NOT_FOUND") return "nothing";
    if (type === "INVALID_REQUEST" && target.startsWith("/")) return "other";
    throw error;
  }
}

async function* withTop(top: TreeFolder, rest: NewTop["rest"]): AsyncGenerator<NewTreeEntry, void, undefined> {
  yield top;
  yield* rest;
}

function below(folder: string, name: string): string {
  return `${folder.replace(/(?<!\/)\/+$/, "")}/${name}`;
}

/** @returns INVALID_REQUEST */
function wrongPlace(path: string, says: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} ${says}.`, {
    suggestion: "Name a folder that exists, or a new name in one.",
    context: { field: "target" },
  });
}
