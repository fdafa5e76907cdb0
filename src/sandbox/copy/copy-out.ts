import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeFile, TreeEntry } from "../files/file-way.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { stat } from "node:fs/promises";
import path from "node:path";
import { findOnHost, onHost } from "./on-host.ts";
import { TreeWriter } from "./tree-writer.ts";

/** The part of a sandbox's files that a copy out of it needs. */
export type InsideFilesToRead = Pick<SandboxFiles, "readTree" | "read">;

/**
 * A file, or a folder with everything below it, on its way out of a sandbox, within the budget: anything but files,
 * folders and links is skipped; if the named path itself is a link, it is followed inside.
 * @throws NOT_FOUND, POLICY_DENIED, what `SandboxFiles.readTree` throws
 */
export async function* treeOut(
  files: InsideFilesToRead,
  source: string,
  budget: CopyBudget,
  options: CallOptions,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  let top: string | undefined;
  for await (const entry of files.readTree(source, options)) {
    const isTop = top === undefined;
    top ??= entry.path;
    if (entry.kind === "other") budget.skip(entry.path, "neither a file, a folder nor a link");
    else if (entry.kind === "file") yield counted(entry, budget);
    else if (entry.kind === "link" && isTop) {
      const { sizeBytes, chunks } = await files.read(source, options);
      return yield counted({ ...entry, kind: "file", mode: 0o644, sizeBytes, chunks }, budget);
    } else {
      if (entry.path !== "") budget.take(0);
      yield entry;
    }
  }
  if (top === undefined) throw nothingInside(source);
}

/** The same file, with its bytes counted as they come. @throws POLICY_DENIED */
export function counted(file: TreeFile, budget: CopyBudget): TreeFile {
  budget.take(file.sizeBytes);
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of file.chunks) {
      budget.arrive(chunk.length);
      yield chunk;
    }
  };
  return { ...file, chunks: chunks() };
}

/**
 * @returns NOT_FOUND
 * @hostileText Exported for the test that feeds it.
 */
export function nothingInside(source: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `${JSON.stringify(source)} does not exist in the sandbox.`);
}

interface CopyOut {
  readonly files: InsideFilesToRead;
  /** Absolute path inside; ending in `/.`: what is in the folder, without the folder. */
  readonly source: string;
  /** Path of this machine on which no link is followed (see `findOnHost`). */
  readonly target: string;
  readonly budget: CopyBudget;
  readonly platform: NodeJS.Platform;
  /** Where relative paths of this machine start. */
  readonly workingDirectory: string;
}

/** Where a copy goes: a folder that exists, and its name in it; null: what is in it, without a name. */
interface Goal {
  readonly folder: string;
  readonly name: string | null;
}

/**
 * Copies a file or a folder out of a sandbox, to the target that `docker cp` would choose. What was written before a
 * failure stays. @throws what `SandboxFiles.readTree` and `TreeWriter.write` throw
 */
export async function copyOut(copy: CopyOut, options: CallOptions): Promise<void> {
  const { files, source, target, budget, platform } = copy;
  const tree = files.readTree(source, options);
  const { value: first, done } = await tree.next();
  if (done === true) throw nothingInside(source);
  try {
    const goal = await findGoal(copy, first.path === "");
    await using found = await findOnHost(goal.folder, platform);
    await using root = await onHost(target, found.parent.enter(found.name));
    await using writer = new TreeWriter(root, { budget, platform });
    if (first.path !== "") {
      const file = first.kind === "link" ? await followed(files, source, options) : first;
      return await writer.write({ ...file, path: "" }, [goal.name ?? ""]);
    }
    const prefix = goal.name === null ? [] : [goal.name];
    await writer.write(first, prefix);
    for await (const entry of tree) await writer.write(entry, prefix);
  } catch (error) {
    // The archive was cut off within a file; the tree itself reports why.
    if (error instanceof RangeError) await tree.next();
    throw error;
  } finally {
    await tree.return();
  }
}

/** The target of a link inside the sandbox, where it is followed. */
async function followed(files: InsideFilesToRead, source: string, options: CallOptions): Promise<TreeEntry> {
  const { sizeBytes, chunks } = await files.read(source, options);
  const exact: TreeFile = { kind: "file", path: "", mode: 0o644, modifiedAtMs: 0, sizeBytes, chunks };
  return exact;
}

/** @throws INVALID_REQUEST, NOT_FOUND */
async function findGoal({ source, target, workingDirectory }: CopyOut, isFolder: boolean): Promise<Goal> {
  const place = path.resolve(workingDirectory, target);
  const there = await stat(place).catch(() => null);
  const onlyContent = isFolder && (source === "/" || source.endsWith("/."));
  if (there?.isDirectory() === true) return { folder: place, name: onlyContent ? null : nameOf(source) };
  if (isFolder && there !== null) throw noFolder(target);
  if (!isFolder && /[/\\]$/.test(target)) throw noFolder(target);
  return { folder: path.dirname(place), name: path.basename(place) };
}

/** @throws INVALID_REQUEST for a path without a name of its own */
function nameOf(source: string): string {
  const name = path.posix.basename(source.replace(/(?<!\/)\/+$/, ""));
  if (name !== "" && name !== "." && name !== "..") return name;
  throw new GloveboxError("INVALID_REQUEST", `${JSON.stringify(source)} has no name of its own.`, {
    suggestion: "Name the file or folder, or a new name for it on this machine.",
    context: { field: "source" },
  });
}

function noFolder(target: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(target)} is no folder on this machine.`, {
    suggestion: "Name a folder that exists, or a new name in one.",
    context: { field: "target" },
  });
}
