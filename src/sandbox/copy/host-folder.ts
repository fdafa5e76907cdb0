import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";
import type { OpenPlace } from "../mounts/open-place.ts";

/** Linux's O_PATH, which Node does not name. */
const onlyPath = 0o10_000_000;

/**
 * A folder of this machine; names are looked up in it and nowhere else. On Linux it is held open and each name is
 * resolved from there, so nothing can be swapped in between, not even by a sandbox that has the folder as a mount.
 * Elsewhere each folder on the path is checked first.
 */
export class HostFolder implements AsyncDisposable {
  readonly platform: NodeJS.Platform;
  readonly #handle: FileHandle | null;
  readonly #path: string;

  /** Follows links, as the caller named it. @throws Node's error */
  static async open(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
    const real = await realpath(place);
    return platform === "linux" ? HostFolder.#hold(real) : new HostFolder(null, real, platform);
  }

  /** The folder that is open already, wherever it has been moved; what this holds is its own. @throws Node's error */
  static async of({ stablePath }: Pick<OpenPlace, "stablePath">, platform: NodeJS.Platform): Promise<HostFolder> {
    return platform === "linux" ? HostFolder.#hold(`${stablePath}/.`) : new HostFolder(null, stablePath, platform);
  }

  /**
   * For folders that are only passed through: they need not be readable. Its path has no links. @throws Node's error
   */
  static async pass(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
    return platform === "linux" ? HostFolder.#hold(place, onlyPath) : new HostFolder(null, place, platform);
  }

  static async #hold(place: string, how: number = constants.O_RDONLY): Promise<HostFolder> {
    const handle = await open(place, how | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return new HostFolder(handle, `/proc/self/fd/${handle.fd}`, "linux");
  }

  private constructor(handle: FileHandle | null, place: string, platform: NodeJS.Platform) {
    this.platform = platform;
    this.#handle = handle;
    this.#path = place;
  }

  /** Its own path, as long as it is open. */
  get self(): string {
    return this.#handle === null ? this.#path : `${this.#path}/`;
  }

  /** The path of a name in it. Whether a link in the last part is followed depends on the call that uses it. */
  at(name: string): string {
    return this.#handle === null ? path.join(this.#path, name) : `${this.#path}/${name}`;
  }

  /** @throws ENOTDIR also for a link */
  async enter(name: string, { onlyPass = false } = {}): Promise<HostFolder> {
    if (this.#handle !== null) return HostFolder.#hold(this.at(name), onlyPass ? onlyPath : undefined);
    if (!(await lstat(this.at(name))).isDirectory())
      throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    return new HostFolder(null, this.at(name), this.platform);
  }

  /** Creates a folder, with the user's umask applied; false if the name exists. */
  async make(name: string, mode: number): Promise<boolean> {
    try {
      await mkdir(this.at(name), { mode });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }

  /**
   * Narrows or sets its permissions, and sets its modification time, where that is possible without looking up its
   * name.
   */
  async describe(mode: number, modifiedAtMs: number, isExact = false): Promise<void> {
    const allowed = isExact ? 0o777 : (await this.#handle?.stat())?.mode;
    if (allowed !== undefined) await this.#handle?.chmod(allowed & mode & 0o777);
    await this.#handle?.utimes(modifiedAtMs / 1000, modifiedAtMs / 1000);
  }

  /** Changes its owner, where that is possible without looking up its name. */
  async giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
    if (this.#handle !== null && (await this.#handle.stat()).uid !== uid) await this.#handle.chown(uid, gid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}
