import { readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { parseMountTable } from "../../base/mount-table.ts";
import type { MountIdentity } from "../../engines/container-spec.ts";

type HeldPlace = Pick<MountIdentity, "heldAt" | "place">;

const unknown: HeldPlace = { heldAt: null, place: null };

/** Where an open file or folder of ours is, for mounts of it and in mount tables; all null on other systems than Linux. */
export async function heldPlace(descriptor: number): Promise<HeldPlace> {
  try {
    // As bytes: names need not be UTF-8.
    const [processId, facts, table, realPath] = await Promise.all([
      readlink("/proc/self"),
      readFile(`/proc/self/fdinfo/${descriptor}`, "latin1"),
      readFile("/proc/self/mountinfo", "latin1"),
      readlink(`/proc/self/fd/${descriptor}`, "latin1"),
    ]);
    const mountId = Number(/^mnt_id:\s*(\d+)$/m.exec(facts)?.[1] ?? Number.NaN);
    const mount = parseMountTable(table).find(({ id }) => id === mountId);
    if (mount === undefined) return unknown;
    const below = path.relative(mount.mountPoint, realPath);
    if (below === ".." || below.startsWith("../")) return unknown;
    const place = { device: mount.device, root: path.join(mount.root, below) };
    return { heldAt: `/proc/${processId}/fd/${descriptor}`, place };
  } catch {
    return unknown;
  }
}
