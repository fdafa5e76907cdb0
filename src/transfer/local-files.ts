import { constants } from "node:fs";
import { open, lstat, writeFile } from "node:fs/promises";
import { findOnHost, makeOnHost, onHost } from "../sandbox/copy/on-host.ts";
import { readBounded } from "../sandbox/mounts/read-bounded.ts";
import type { ExecuteResponse } from "../operations/execute-contract.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { TreeWriter } from "../sandbox/copy/tree-writer.ts";
import path from "node:path";

/**
 * All bytes of what a person named, a file, pipe or link, null if there are more than `maxBytes`. It is opened once: what is
 * read is what was measured. @throws Node's error
 */
export async function readNamed(place: string, maxBytes: number): Promise<Uint8Array | null> {
  await using file = await open(place);
  return await readBounded(file, maxBytes);
}

/** What a file holds, or why there is nothing. */
type ReadFile = { readonly bytes: Uint8Array } | { readonly reason: "too large" | "no file" };

/**
 * All bytes of a file at an absolute path on which no link is followed (see `findOnHost`): a program that had the folder could
 * have left one, to get what it leads to. @throws INVALID_REQUEST naming a link, NOT_FOUND, or Node's error
 */
export async function readWithoutLinks(
  place: string,
  { maxBytes, platform }: { readonly maxBytes: number; readonly platform: NodeJS.Platform },
): Promise<ReadFile> {
  await using found = await findOnHost(place, platform);
  if (!found.stat.isFile()) return { reason: "no file" };
  // Without waiting for whoever may have put a FIFO there meanwhile.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using file = await open(found.parent.at(found.name), flags);
  if (!(await file.stat()).isFile()) return { reason: "no file" };
  const bytes = await readBounded(file, maxBytes);
  return bytes === null ? { reason: "too large" } : { bytes };
}

type Artifact = NonNullable<ExecuteResponse["artifacts"]>[number];

/** A program's files that were saved on this machine, and what was left out. */
interface SavedArtifacts {
  /** Relative to the folder. */
  readonly saved: readonly string[];
  /** One sentence for each kind of thing that was left out. */
  readonly warnings: readonly string[];
}

/**
 * Writes the result files of a program below a folder of this machine (an absolute path; made if it is missing), and
 * nowhere else, as their names are untrusted. An existing file is replaced. No link is followed on the way to the folder
 * either: a sandbox that has one of the folders above as a mount could put it there, or swap it in meanwhile.
 * @throws POLICY_DENIED for a name that leads out, INVALID_REQUEST, PERMISSION_DENIED
 */
export async function saveArtifacts(
  artifacts: readonly Artifact[],
  folder: string,
  { platform, nowMs }: { readonly platform: NodeJS.Platform; readonly nowMs: number },
): Promise<SavedArtifacts> {
  const budget = new CopyBudget({});
  const saved: string[] = [];
  await using root = await makeOnHost(folder, platform);
  await using writer = new TreeWriter(root, { budget, platform });
  const modifiedAtMs = nowMs;
  for (const { path: name, encoding, content, omitted } of artifacts) {
    // The answer's own warnings name them.
    if (omitted !== undefined) continue;
    const bytes = Buffer.from(content, encoding);
    for (const parent of parentsOf(name)) {
      await writer.write({ kind: "folder", path: parent, mode: 0o755, modifiedAtMs }, []);
    }
    const chunks = ReadableStream.from([bytes]);
    await writer.write({ kind: "file", path: name, mode: 0o644, modifiedAtMs, sizeBytes: bytes.length, chunks }, []);
    saved.push(name);
  }
  return { saved, warnings: budget.warnings };
}

/**
 * Writes a file of this machine whose text a program chose, in an existing folder (`place`: an absolute path). A file or
 * link with that name is replaced, never written through, and no link is followed on the way: a sandbox that has one of
 * the folders as a mount could put it there, or swap it in meanwhile. What is no file, such as `/dev/stdout` or a FIFO, is
 * written to as it is.
 * @throws INVALID_REQUEST, NOT_FOUND, PERMISSION_DENIED, POLICY_DENIED when the disk is full
 */
export async function saveFile(
  place: string,
  text: string,
  { platform, nowMs }: { readonly platform: NodeJS.Platform; readonly nowMs: number },
): Promise<void> {
  if (platform !== "win32" && place.startsWith("/dev/")) return onHost(place, writeFile(place, text));
  await using found = await findOnHost(path.dirname(place), platform);
  await using folder = await onHost(place, found.parent.enter(found.name));
  const name = path.basename(place);
  const there = await lstat(folder.at(name)).catch(() => null);
  if (there?.isFIFO() === true) return await onHost(place, writeFile(folder.at(name), text));
  await using writer = new TreeWriter(folder, { budget: new CopyBudget({}), platform });
  const bytes = Buffer.from(text);
  const chunks = ReadableStream.from([bytes]);
  const facts = { mode: 0o644, modifiedAtMs: nowMs, sizeBytes: bytes.length, chunks };
  await writer.write({ kind: "file", path: name, ...facts }, []);
}

/** `a` and `a/b` of `a/b/c.txt`. */
function parentsOf(name: string): readonly string[] {
  const names = name.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
