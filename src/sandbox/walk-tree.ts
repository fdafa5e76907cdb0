import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, type BigIntStats } from "node:fs";
import type { TreeSize } from "../policy/project-growth.ts";

/** The input of a walk. */
export interface TreeWalk {
  readonly root: string;
  /** Identity of the root, from `stat`, in case its path now leads elsewhere. */
  readonly device: string;
  readonly inode: string;
  /** Milliseconds since the epoch: files changed since then are fresh. */
  readonly since: number;
  readonly platform: NodeJS.Platform;
  readonly maxFiles: number;
  readonly maxDepth: number;
}

/** Bytes of a block in `stat`. */
const blockBytes = 512n;

/** A folder that is open, or on other systems than Linux its path. */
interface Folder {
  readonly descriptor: number;
  readonly path: string;
}

/**
 * Measures a folder: no link is followed, only folders are opened, other file systems are skipped, and each name is
 * looked up in a folder that is held open, however long its path is. Null if the root is no longer the same folder.
 */
export function walkTree(walk: TreeWalk): TreeSize | null {
  const root = enter(walk, Buffer.from(walk.root));
  const { dev, ino } = fstatSync(root.descriptor, { bigint: true });
  if (String(dev) !== walk.device || String(ino) !== walk.inode) return null;
  const counts = new TreeCounts(walk);
  const open: { readonly folder: Folder; readonly names: Iterator<string> }[] = [
    { folder: root, names: namesIn(root) },
  ];
  for (;;) {
    const inner = open.at(-1);
    if (inner === undefined) return counts.size;
    const next = inner.names.next();
    if (next.done === true || counts.isFull) {
      closeSync(inner.folder.descriptor);
      open.pop();
      continue;
    }
    try {
      const place = Buffer.concat([Buffer.from(`${inner.folder.path}/`), Buffer.from(next.value, "latin1")]);
      const stat = lstatSync(place, { bigint: true });
      if (stat.dev !== dev) continue;
      counts.add(stat);
      if (!stat.isDirectory()) continue;
      if (open.length >= walk.maxDepth) counts.isWhole = false;
      else {
        const folder = enter(walk, place);
        open.push({ folder, names: namesIn(folder) });
      }
    } catch (error) {
      // If it disappeared meanwhile, that is fine; any other error may hide something.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") counts.isWhole = false;
    }
  }
}

class TreeCounts {
  isWhole = true;
  readonly #walk: TreeWalk;
  readonly #linked = new Set<bigint>();
  #bytes = 0n;
  #files = 0;
  #freshBytes = 0n;
  #freshFiles = 0;

  constructor(walk: TreeWalk) {
    this.#walk = walk;
  }

  get isFull(): boolean {
    if (this.#files < this.#walk.maxFiles) return false;
    this.isWhole = false;
    return true;
  }

  add({ ino, nlink, blocks, ctimeMs, ...stat }: BigIntStats): void {
    if (nlink > 1n && (stat.mode & 0o170000n) !== 0o040000n) {
      if (this.#linked.has(ino)) return;
      this.#linked.add(ino);
    }
    this.#files += 1;
    this.#bytes += blocks * blockBytes;
    if (ctimeMs < BigInt(this.#walk.since)) return;
    this.#freshFiles += 1;
    this.#freshBytes += blocks * blockBytes;
  }

  get size(): TreeSize {
    return {
      bytes: Number(this.#bytes),
      files: this.#files,
      freshBytes: Number(this.#freshBytes),
      freshFiles: this.#freshFiles,
      isWhole: this.isWhole,
    };
  }
}

function enter({ platform }: TreeWalk, place: Buffer): Folder {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(place, flags);
  return { descriptor, path: platform === "linux" ? `/proc/self/fd/${descriptor}` : place.toString("utf8") };
}

/** One at a time, as there may be millions, and as bytes, as names need not be UTF-8. */
function* namesIn({ path: place }: Folder): Generator<string, void, undefined> {
  const folder = opendirSync(`${place}/.`, { encoding: "latin1" });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry.name;
  } finally {
    folder.closeSync();
  }
}
