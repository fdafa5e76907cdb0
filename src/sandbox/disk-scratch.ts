import { chmod, mkdir, readdir, statfs } from "node:fs/promises";
import path from "node:path";
import { removeOwnTree } from "../base/remove-own-tree.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { MountSpec } from "../engines/container-spec.ts";
import { temporaryFolder, workFolder } from "../policy/scratch.ts";
import type { Leases } from "./owners/leases.ts";
import { isPrivateFolder, makePrivateFolder } from "../base/own-folder.ts";
import { gibibyte } from "../base/bytes.ts";

interface DiskScratchOptions {
  /** Folder of all servers' scratch; made when it is missing, for this user only. */
  readonly folder: string;
  /** Of this user; null where the system has no user ids. */
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
  /** Owner id of this process. */
  readonly owner: string;
  readonly leases: Pick<Leases, "hold" | "stateOf">;
}

/** Scratch of one sandbox on this machine's disk, without a limit of its own: whoever mounts it watches `folder`. */
export interface ScratchFolder extends AsyncDisposable {
  /** What holds all of it. */
  readonly folder: string;
  /** The working and the temporary folder, and further ones that were requested. */
  readonly mounts: readonly MountSpec[];
}

/**
 * Scratch that may be larger than memory: folders of this machine, behind one that no other user can pass, which are
 * mounted for a single sandbox and go with it. They end with their server.
 */
export class DiskScratch {
  readonly #options: DiskScratchOptions;
  #count = 0;

  constructor(options: DiskScratchOptions) {
    this.#options = options;
  }

  /**
   * Whether an engine can get such scratch, which it keeps in memory by itself: where it mounts folders of this machine,
   * lets no program set setuid bits there, and leaves nothing that we may not remove: the files of other users only to root.
   */
  serves({ scratch, hostPaths, setuidRefusal, images }: Capabilities): boolean {
    const { uid, platform } = this.#options;
    if (scratch !== "memory" || platform !== "linux" || !hostPaths || setuidRefusal !== "yes") return false;
    return uid === 0 || !images;
  }

  /**
   * Makes scratch for one sandbox, to be removed after it; `more`: absolute paths inside of further folders, by names of their own.
   * @throws PERMISSION_DENIED when others have made its place
   */
  async make(more: readonly string[] = []): Promise<ScratchFolder> {
    const { folder, [Symbol.asyncDispose]: dispose } = await this.makeFolder();
    const mounts = [workFolder, temporaryFolder, ...more].map((target) => ({
      source: path.join(folder, path.basename(target)),
      target,
      readOnly: false,
    }));
    for (const { source } of mounts) {
      await mkdir(source, { recursive: true, mode: 0o700 });
      await chmod(source, 0o1777);
    }
    return { folder, mounts, [Symbol.asyncDispose]: dispose };
  }

  /** Makes an empty folder for one sandbox, of this user alone. @throws as `make` */
  async makeFolder(): Promise<Omit<ScratchFolder, "mounts">> {
    const { leases, owner, uid, platform } = this.#options;
    // Without a lease it could be taken for that of a dead server.
    await leases.hold();
    await makePrivateFolder(this.#options.folder, uid);
    const folder = path.join(this.#options.folder, owner, String(++this.#count));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { folder, [Symbol.asyncDispose]: () => removeOwnTree(folder, { uid, platform }) };
  }

  /** Removes what servers that no longer exist have left. */
  async forgetLeft(): Promise<void> {
    const { folder, uid, leases } = this.#options;
    if (!(await isPrivateFolder(folder, uid))) return;
    for (const owner of await readdir(folder)) {
      if ((await leases.stateOf(owner)) !== "living") await this.#remove(owner);
    }
  }

  /** Removes all of this server's. */
  async close(): Promise<void> {
    if (await isPrivateFolder(this.#options.folder, this.#options.uid)) await this.#remove(this.#options.owner);
  }

  async #remove(owner: string): Promise<void> {
    const { folder, uid, platform } = this.#options;
    await removeOwnTree(path.join(folder, owner), { uid, platform });
  }
}

/** How much fits on a file system. */
export interface Room {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What stays free on this machine, whoever has taken the rest. */
const reserve = { share: 0.05, maxBytes: 2 * gibibyte };

/** Of the file system of a folder, as far as this user may use it. */
export async function readRoom(folder: string): Promise<Room> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Bytes that stay free: 2 GiB, on small file systems 5 % of them. */
export function reserveOf({ totalBytes }: Pick<Room, "totalBytes">): number {
  return Math.min(reserve.maxBytes, totalBytes * reserve.share);
}
