import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeFile, TreeFolder } from "../files/file-facts.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";

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
export function wrongPlace(path: string, says: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} ${says}.`, {
    suggestion: "Name a folder that exists, or a new name in one.",
    context: { field: "target" },
  });
}
