import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Leases } from "./leases.ts";

export interface WorkArchivesOptions {
  /** Folder of all servers' archives; made when it is missing, for this user only. */
  readonly folder: string;
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
    const { leases, owner } = this.#options;
    // Without a lease the archive could be taken for a dead server's.
    await leases.hold();
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
    return { read: () => createReadStream(file) as AsyncIterable<Uint8Array>, [Symbol.asyncDispose]: remove };
  }

  /** Removes what servers that are gone have left. */
  async forgetLeft(): Promise<void> {
    const owners = await readdir(this.#options.folder).catch(() => []);
    for (const owner of owners) {
      if ((await this.#options.leases.stateOf(owner)) === "living") continue;
      await rm(path.join(this.#options.folder, owner), { recursive: true, force: true });
    }
  }

  /** Removes all of this server's. */
  async close(): Promise<void> {
    await rm(path.join(this.#options.folder, this.#options.owner), { recursive: true, force: true });
  }
}
