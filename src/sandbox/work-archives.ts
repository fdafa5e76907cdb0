import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Leases } from "./owners/leases.ts";
import { isPrivateFolder, makePrivateFolder } from "./owners/private-folder.ts";

export interface WorkArchivesOptions {
  /** Folder of all servers' archives; made when it is missing, for this user only. */
  readonly folder: string;
  /** Of this user; null where the system has no user ids. */
  readonly uid: number | null;
  /** Owner id of this process. */
  readonly owner: string;
  readonly leases: Pick<Leases, "hold" | "stateOf">;
}

/** The files of a sandbox that has been stopped. */
export interface WorkArchive extends AsyncDisposable {
  /** What `save` was given. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Where the files of stopped sandboxes are kept, as archives that only a sandbox ever unpacks: to this process they are
 * bytes. They end with their server.
 */
export class WorkArchives {
  readonly #options: WorkArchivesOptions;
  #count = 0;

  constructor(options: WorkArchivesOptions) {
    this.#options = options;
  }

  /** @throws CAPACITY when there is more than `maxBytes`; nothing is left then */
  async save(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<WorkArchive> {
    const { leases, owner, uid } = this.#options;
    // Without a lease the archive could be taken for a dead server's.
    await leases.hold();
    await makePrivateFolder(this.#options.folder, uid);
    const folder = path.join(this.#options.folder, owner);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, `${++this.#count}.tar`);
    const remove = (): Promise<void> => rm(file, { force: true });
    try {
      await using handle = await open(file, "wx", 0o600);
      let bytes = 0;
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new GloveboxError("CAPACITY", "The files of a session are too large to be kept.");
        await handle.writeFile(chunk);
      }
    } catch (error) {
      await remove();
      throw error;
    }
    return { read: () => contentOf(file), [Symbol.asyncDispose]: remove };
  }

  /** Removes what servers that no longer exist have left. */
  async forgetLeft(): Promise<void> {
    const { folder, uid } = this.#options;
    // Else it could be a link to anybody's files by the time they are removed.
    if (!(await isPrivateFolder(folder, uid))) return;
    const owners = await readdir(folder).catch(() => []);
    for (const owner of owners) {
      if ((await this.#options.leases.stateOf(owner)) === "living") continue;
      await rm(path.join(folder, owner), { recursive: true, force: true });
    }
  }

  /** Removes all of this server's. */
  async close(): Promise<void> {
    const { folder, owner, uid } = this.#options;
    if (!(await isPrivateFolder(folder, uid))) return;
    await rm(path.join(folder, owner), { recursive: true, force: true });
  }
}

/** Opened by its first reader: a stream that nobody reads yet has nobody to tell that it cannot be opened. */
async function* contentOf(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* createReadStream(file) as AsyncIterable<Uint8Array>;
}
