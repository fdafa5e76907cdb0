import { readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { parseMountTable } from "../../base/mount-table.ts";
import type { MountedPlace } from "../../engines/container-spec.ts";

/** Where mount tables say that an open file or folder of ours is; null where there is no such table, as on other systems. */
export async function mountedPlace(descriptor: number): Promise<MountedPlace | null> {
  try {
    // Byte for byte: names need not be UTF-8.
    const [facts, table, realPath] = await Promise.all([
      readFile(`/proc/self/fdinfo/${descriptor}`, "latin1"),
      readFile("/proc/self/mountinfo", "latin1"),
      readlink(`/proc/self/fd/${descriptor}`, "latin1"),
    ]);
    const mountId = Number(/^mnt_id:\s*(\d+)$/m.exec(facts)?.[1] ?? Number.NaN);
    const mount = parseMountTable(table).find(({ id }) => id === mountId);
    if (mount === undefined) return null;
    const below = path.relative(mount.mountPoint, realPath);
    if (below === ".." || below.startsWith("../")) return null;
    return { device: mount.device, root: path.join(mount.root, below) };
  } catch {
    return null;
  }
}
