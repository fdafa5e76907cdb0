import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeFile } from "../files/file-facts.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";
import type { CopyBudget } from "./copy-budget.ts";

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

/** @returns NOT_FOUND */
export function nothingInside(source: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `${JSON.stringify(source)} does not exist in the sandbox.`);
}
