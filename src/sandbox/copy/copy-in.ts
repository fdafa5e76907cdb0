import path from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeFolder } from "../files/file-facts.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { onHost } from "./on-host.ts";
import { findOnHost } from "./find-on-host.ts";
import { readHostFile, readHostTree } from "./read-host-tree.ts";

export interface CopyIn {
  readonly files: SandboxFiles;
  /**
   * Path of this machine on which no link is followed (see `findOnHost`); links below are copied as links. Ending in `/.`:
   * what is in the folder, without the folder.
   */
  readonly source: string;
  /** Absolute path inside. */
  readonly target: string;
  readonly budget: CopyBudget;
  readonly platform: NodeJS.Platform;
  /** Where relative paths of this machine start. */
  readonly workingDirectory: string;
}

/**
 * Copies a file or a folder into a sandbox, to the place that `docker cp` would choose; missing folders are made. What
 * was written before a failure stays. @throws what `SandboxFiles.write` and `writeTree` throw, and for what cannot be read here
 */
export async function copyIn(copy: CopyIn, options: CallOptions): Promise<void> {
  const { files, source, target, budget, platform, workingDirectory } = copy;
  const given = path.resolve(workingDirectory, source);
  await using found = await findOnHost(given, platform);
  const there = found.stat;
  const place = await placeOf(files, target, options);
  const name = path.basename(given);
  if (there.isDirectory()) {
    if (place === "other") throw wrong(target, "is no folder in the sandbox");
    await using folder = await onHost(source, found.parent.enter(found.name));
    const onlyContent = /(?:^|[/\\])\.$/.test(source);
    const isMerged = place === "folder" && onlyContent;
    const inside = place === "folder" && !onlyContent ? below(target, name) : target;
    const top: TreeFolder = { kind: "folder", path: "", mode: there.mode & 0o777, modifiedAtMs: there.mtimeMs };
    await files.writeTree(inside, withTop(isMerged ? null : top, readHostTree(folder, budget)), options);
    return;
  }
  if (place === "nothing" && target.endsWith("/")) throw wrong(target, "is no folder in the sandbox");
  if (!there.isFile()) throw wrong(source, "is neither a file nor a folder");
  for await (const file of readHostFile(found.parent.at(found.name), name, budget)) {
    await files.write(place === "folder" ? below(target, name) : target, file, { mode: file.mode, ...options });
  }
}

/** What stands at a path inside; links there are followed. */
async function placeOf(
  files: SandboxFiles,
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

async function* withTop(
  top: TreeFolder | null,
  rest: AsyncIterable<NewTreeEntry>,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  if (top !== null) yield top;
  yield* rest;
}

function below(folder: string, name: string): string {
  return `${folder.replace(/\/+$/, "")}/${name}`;
}

function wrong(path: string, says: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} ${says}.`, {
    suggestion: "Name a folder that exists, or a new name in one.",
    context: { field: "target" },
  });
}
