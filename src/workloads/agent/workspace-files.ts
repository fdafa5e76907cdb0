import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";

/** A file that tells an agent about its group. */
export interface WorkspaceFile {
  readonly path: string;
  readonly text: string;
  /** Whether the file is longer than the text. */
  readonly isCut: boolean;
}

/** Files that are read if they exist: who the agent is, whom it works for, what it knows. */
const names = ["SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "MEMORY.md", "TODOS.md"];
/** Limits for each file, and for all together. */
const maxFileBytes = 16_384;
const maxTotalBytes = 49_152;

/**
 * Reads those of the files that exist in the folders, in order. Groups write them, so anything may have such a name:
 * only plain files are read, and no link is followed.
 */
export async function readWorkspaceFiles(folders: readonly string[]): Promise<readonly WorkspaceFile[]> {
  const files: WorkspaceFile[] = [];
  let left = maxTotalBytes;
  for (const place of folders.flatMap((folder) => names.map((name) => path.posix.join(folder, name)))) {
    const content = await readStart(place, Math.min(maxFileBytes, left) + 1);
    if (content === null || content.length === 0 || left === 0) continue;
    const kept = content.subarray(0, Math.min(maxFileBytes, left));
    left -= kept.length;
    files.push({ path: place, text: kept.toString("utf8"), isCut: kept.length < content.length });
  }
  return files;
}

async function readStart(place: string, bytes: number): Promise<Buffer | null> {
  let file: FileHandle | null = null;
  try {
    // Does not block on a FIFO.
    file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return null;
  } finally {
    await file?.close();
  }
}
