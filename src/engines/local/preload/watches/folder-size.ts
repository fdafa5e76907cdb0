import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Bytes that everything below the folders takes on disk; what goes away meanwhile does not count. */
export async function folderSize(folders: readonly string[]): Promise<number> {
  let total = 0;
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else total += await sizeOnDisk(path);
    }
  }
  return total;
}

/** Sparse files take less than their length; Windows tells no blocks. */
async function sizeOnDisk(path: string): Promise<number> {
  try {
    const { blocks, size } = await lstat(path);
    return blocks === undefined ? size : blocks * 512;
  } catch {
    return 0;
  }
}
