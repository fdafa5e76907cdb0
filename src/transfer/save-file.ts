import { lstat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { findOnHost } from "../sandbox/copy/find-on-host.ts";
import { onHost } from "../sandbox/copy/on-host.ts";
import { TreeWriter } from "../sandbox/copy/tree-writer.ts";

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
