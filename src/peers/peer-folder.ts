import { lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { assertOwnFolder, openOwnFolder } from "../base/own-folder.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Leases } from "../sandbox/owners/leases.ts";

export interface PeerFolderOptions {
  /** Folder of the sockets of all of this user's processes; created if missing, for this user only. */
  readonly folder: string;
  /** Owner id of this process. */
  readonly owner: string;
  /** Null if the system has no user ids. */
  readonly uid: number | null;
  readonly platform: NodeJS.Platform;
  readonly leases: Pick<Leases, "stateOf">;
}

const what = "the folder in which its processes reach each other";
const remedy = "set XDG_STATE_HOME to a folder of this user's with a short name";

/** How the processes of this user reach each other: a folder with a unix socket of each; on Windows named pipes. */
export class PeerFolder {
  readonly #options: PeerFolderOptions;

  constructor(options: PeerFolderOptions) {
    this.#options = options;
  }

  /** Of this process. */
  get ownAddress(): string {
    return this.#addressOf(this.#options.owner);
  }

  /** Creates the folder. @throws PERMISSION_DENIED if someone else could put their own socket there */
  async open(): Promise<void> {
    const { folder, uid, platform } = this.#options;
    if (platform !== "win32") await openOwnFolder(folder, { what, remedy, uid, mode: 0o700 });
  }

  /**
   * Checks that only this user can have put a socket there; does nothing if it is gone. The socket's creator reads what
   * is sent.
   * @throws PERMISSION_DENIED
   */
  async assertOwn(address: string): Promise<void> {
    const { uid, platform } = this.#options;
    if (platform === "win32") return;
    try {
      await assertOwnFolder(path.dirname(address), { what, remedy, uid, mode: 0o700 });
      const stats = await lstat(address);
      if (!stats.isSocket()) throw foreignSocket("it is no socket");
      if (uid !== null && stats.uid !== uid) throw foreignSocket("it belongs to another user");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  /** Addresses of the other live processes. */
  async others(): Promise<readonly string[]> {
    const living = await this.#owners("living");
    return living.filter((owner) => owner !== this.#options.owner).map((owner) => this.#addressOf(owner));
  }

  /** Removes the sockets of processes that are gone. */
  async forgetLeft(): Promise<void> {
    for (const owner of await this.#owners("expired")) await rm(this.#addressOf(owner), { force: true });
  }

  async #owners(state: "living" | "expired"): Promise<readonly string[]> {
    const { folder, leases, uid, platform } = this.#options;
    if (platform === "win32") return [];
    const isOurs = await assertOwnFolder(folder, { what, remedy, uid, mode: 0o700 }).then(
      () => true,
      // Missing, or someone else's, who must not decide what is connected to or removed.
      () => false,
    );
    const owners = isOurs ? await readdir(folder) : [];
    const states = await Promise.all(owners.map((owner) => leases.stateOf(owner)));
    return owners.filter((_, index) => states[index] === state);
  }

  #addressOf(owner: string): string {
    const { folder, platform } = this.#options;
    return platform === "win32" ? `\\\\.\\pipe\\glovebox-${owner}` : path.join(folder, owner);
  }
}

function foreignSocket(problem: string): GloveboxError {
  return new GloveboxError(
    "PERMISSION_DENIED",
    `Glovebox does not use what stands in place of a process's socket: ${problem}.`,
    {
      suggestion: "Look who made it, and remove it.",
      context: { reason: "foreign_socket" },
    },
  );
}
