import { GloveboxError, errorCode } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { NewTreeEntry, TreeEntry, TreeFile, TreeFolder } from "../files/file-way.ts";
import { MoveBounds, treeLimits } from "../files/move-bounds.ts";
import { boundArchive, decodeTar, encodeTar } from "../files/tree-archive.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { placeInside, type InsideFilesToPlace, type NewTop } from "./copy-in.ts";
import { counted, treeOut, type InsideFilesToRead } from "./copy-out.ts";

/** A file or folder of a sandbox on its way to another machine, piece by piece. @throws as `treeOut` */
export function archiveOf(
  files: InsideFilesToRead,
  source: string,
  budget: CopyBudget,
  { signal }: CallOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  return encodeTar(treeOut(files, source, budget, { signal }));
}

/** A file or folder of this machine on its way to a sandbox of another one. */
export function archiveOfTop({ first, rest }: NewTop): AsyncGenerator<Uint8Array, void, undefined> {
  const entries = async function* (): AsyncGenerator<NewTreeEntry, void, undefined> {
    yield first;
    yield* rest;
  };
  return encodeTar(entries());
}

export interface ArchiveToPlace extends Pick<NewTop, "name" | "isContentOnly"> {
  readonly files: InsideFilesToPlace;
  readonly archive: AsyncIterable<Uint8Array>;
  /** Absolute path inside. */
  readonly target: string;
  readonly budget: CopyBudget;
}

/**
 * Copies an archive from another machine into a sandbox, as `placeInside` does, within the budget and the bounds of all
 * trees. Anything but files, folders and links is skipped. @throws INVALID_REQUEST for an invalid archive, and as
 * `placeInside`
 */
export async function placeArchive(
  { files, archive, target, name, isContentOnly, budget }: ArchiveToPlace,
  { signal }: CallOptions,
): Promise<void> {
  const entries = decodeTar(boundArchive(archive, new MoveBounds(target, treeLimits, { signal })));
  try {
    const { value: first } = await entries.next();
    if (first === undefined || !isTop(first)) throw noTop();
    const top = first.kind === "file" ? counted(first, budget) : first;
    const rest = first.kind === "file" ? [] : newEntries(entries, budget);
    await placeInside(files, target, { name, isContentOnly, first: top, rest }, { signal });
  } catch (error) {
    throw isNoArchive(error) ? badArchive(error) : error;
  } finally {
    await entries.return();
  }
}

function isTop(entry: TreeEntry): entry is TreeFile | TreeFolder {
  return entry.kind === "file" ? entry.path !== "" : entry.kind === "folder" && entry.path === "";
}

async function* newEntries(
  entries: AsyncIterable<TreeEntry>,
  budget: CopyBudget,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for await (const entry of entries) {
    if (entry.kind === "other") budget.skip(entry.path, "neither a file, a folder nor a link");
    else if (entry.kind === "file") yield counted(entry, budget);
    else {
      budget.take(0);
      yield entry;
    }
  }
}

function isNoArchive(error: unknown): boolean {
  return error instanceof RangeError || errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA";
}

function badArchive(cause: unknown): GloveboxError {
  const why = cause instanceof RangeError ? cause.message : "a name that is not UTF-8";
  return new GloveboxError("INVALID_REQUEST", `input: expected a whole tar archive, found ${why}.`, {
    suggestion: "Send the archive again, to its end.",
    context: { field: "input" },
    cause,
  });
}

function noTop(): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "input: expected an archive of one file, or of a folder `./` first.", {
    suggestion: "Make it with `tar -c -C FOLDER .`, or of the one file.",
    context: { field: "input" },
  });
}
