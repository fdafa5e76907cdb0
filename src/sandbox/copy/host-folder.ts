import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";

/**
 * A folder of this machine whose names are looked up in it and nowhere else. On Linux it is held open, and each name is
 * resolved from there, so nothing can be swapped in between, not by a sandbox that has the folder as a mount either.
 * Elsewhere each folder on the way is looked at first.
 */
export class HostFolder implements AsyncDisposable {
  readonly #handle: FileHandle | null;
  readonly #path: string;

  /** Through links: the caller has named it. @throws Node's error */
  static async open(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
    const real = await realpath(place);
    return platform === "linux" ? HostFolder.#hold(real) : new HostFolder(null, real);
  }

  static async #hold(place: string): Promise<HostFolder> {
    const handle = await open(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return new HostFolder(handle, `/proc/self/fd/${handle.fd}`);
  }

  private constructor(handle: FileHandle | null, place: string) {
    this.#handle = handle;
    this.#path = place;
  }

  /** Its own path, as long as it is open. */
  get self(): string {
    return this.#handle === null ? this.#path : `${this.#path}/`;
  }

  /** That of a name in it. The last part is as the call that gets it takes it: a link may be followed there. */
  at(name: string): string {
    return this.#handle === null ? path.join(this.#path, name) : `${this.#path}/${name}`;
  }

  /** @throws ENOTDIR also for a link */
  async enter(name: string): Promise<HostFolder> {
    if (this.#handle !== null) return HostFolder.#hold(this.at(name));
    if (!(await lstat(this.at(name))).isDirectory())
      throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    return new HostFolder(null, this.at(name));
  }

  /** Makes a folder; false when there is something of that name. */
  async make(name: string): Promise<boolean> {
    try {
      await mkdir(this.at(name), { mode: 0o700 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }

  /** Permissions and time of change, where they can be set without looking the name up again. */
  async describe(mode: number, modifiedAtMs: number): Promise<void> {
    await this.#handle?.chmod(mode);
    await this.#handle?.utimes(modifiedAtMs / 1000, modifiedAtMs / 1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}
