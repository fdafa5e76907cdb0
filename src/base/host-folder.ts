import { constants, type Stats } from "node:fs";
import { chmod, lstat, mkdir, open, opendir, readdir, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";

/** Linux's O_PATH, which Node does not name. */
const onlyPath = 0o10_000_000;
/** For its owner: reading and going through. */
const mayLookInto = 0o500;

/** What a walk has found by its name in a folder that it holds open. */
export interface WalkedEntry {
  /** Where the name stands; open until the next entry is asked for. */
  readonly folder: HostFolder;
  /** With U+FFFD for what is not UTF-8, in which case only `place` leads to it. */
  readonly name: string;
  readonly isUtf8: boolean;
  /** The names from the root on, with slashes. */
  readonly path: string;
  /** 1: it stands in the root. */
  readonly level: number;
  /** Of the entry itself: links are not followed. */
  readonly stat: Stats;
  /** Its path as bytes through the open folder. */
  readonly place: Buffer;
  /** A folder is not entered. */
  passBy(): void;
}

export interface WalkOptions {
  /** Folders in folders that are entered; each is held open. */
  readonly maxDepth: number;
  /**
   * The budget: called before each name is looked at, with its level; false ends the walk, and it may throw. Names that are gone by
   * then count as well.
   */
  readonly take?: ((level: number) => boolean) | undefined;
  /** In the order of their names, for which those of a folder are held in memory together; default: as they come, one at a time. */
  readonly isSorted?: boolean | undefined;
  /** Whether what lies on other file systems is left out. */
  readonly staysOnDevice?: boolean | undefined;
  /**
   * User whose folders are opened to us again where a program has taken their permissions from itself; those of others that are
   * closed are left out. Default: a folder that is closed is trouble.
   */
  readonly reopensOf?: number | undefined;
  /** A folder is deeper than is entered; default: it is left out. May throw. */
  readonly onTooDeep?: ((path: string) => void) | undefined;
  /** What could not be looked at; default: it throws what is not just gone, or exchanged, meanwhile. May throw. */
  readonly onTrouble?: ((path: string, error: unknown) => void) | undefined;
}

/** A folder that a walk is in. */
interface WalkedFolder {
  readonly folder: HostFolder;
  /** With a slash at its end; empty for the root. */
  readonly prefix: string;
  readonly names: AsyncGenerator<Buffer, void, undefined>;
}

/**
 * A folder of this machine; names are looked up in it and nowhere else. On Linux it is held open and each name is
 * resolved from there, so nothing can be swapped in between, not even by a sandbox that has the folder as a mount.
 * Elsewhere each folder on the path is checked first.
 */
export class HostFolder implements AsyncDisposable {
  readonly platform: NodeJS.Platform;
  readonly #handle: FileHandle | null;
  /** Bytes, as names need not be UTF-8. */
  readonly #path: Buffer;

  /** Follows links, as the caller named it. @throws Node's error */
  static async open(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
    const real = await realpath(place);
    return platform === "linux" ? HostFolder.#hold(real) : new HostFolder(null, real, platform);
  }

  /** The folder that is open already, wherever it has been moved; what this holds is its own. @throws Node's error */
  static async of({ stablePath }: { readonly stablePath: string }, platform: NodeJS.Platform): Promise<HostFolder> {
    return platform === "linux" ? HostFolder.#hold(`${stablePath}/.`) : new HostFolder(null, stablePath, platform);
  }

  /**
   * For folders that are only passed through: they need not be readable. Its path has no links. @throws Node's error
   */
  static async pass(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
    return platform === "linux" ? HostFolder.#hold(place, onlyPath) : new HostFolder(null, place, platform);
  }

  static async #hold(place: string | Buffer, how: number = constants.O_RDONLY): Promise<HostFolder> {
    const handle = await open(place, how | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return new HostFolder(handle, `/proc/self/fd/${handle.fd}`, "linux");
  }

  private constructor(handle: FileHandle | null, place: string | Buffer, platform: NodeJS.Platform) {
    this.platform = platform;
    this.#handle = handle;
    this.#path = Buffer.from(place);
  }

  /** Its own path, as long as it is open. */
  get self(): string {
    return this.#handle === null ? this.#path.toString() : `${this.#path.toString()}/`;
  }

  /** The path of a name in it. Whether a link in the last part is followed depends on the call that uses it. */
  at(name: string): string {
    const own = this.#path.toString();
    return this.#handle === null ? path.join(own, name) : `${own}/${name}`;
  }

  /** @throws ENOTDIR also for a link */
  async enter(name: string | Buffer, { onlyPass = false } = {}): Promise<HostFolder> {
    const place = typeof name === "string" ? this.at(name) : this.#within(name);
    if (this.#handle !== null) return HostFolder.#hold(place, onlyPass ? onlyPath : undefined);
    if (!(await lstat(place)).isDirectory()) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    return new HostFolder(null, place, this.platform);
  }

  /** The folder that the names lead to, each looked up in the one before. @throws as `enter` */
  async descend(names: readonly string[]): Promise<HostFolder> {
    let folder = await this.enter(".");
    for (const name of names) {
      await using outer = folder;
      folder = await outer.enter(name);
    }
    return folder;
  }

  /**
   * What is below it, whatever programs that can write there do meanwhile: no link is followed, nothing but folders is opened, each
   * name is looked up in a folder that is held open, and bytes that are no UTF-8 are names like any other. An entry comes before what
   * is below it.
   * @throws Node's error when this folder itself cannot be read, whose path is empty in `onTrouble`, and what `take`, `onTooDeep` and `onTrouble` throw
   */
  async *walk(options: WalkOptions): AsyncGenerator<WalkedEntry, void, undefined> {
    const { take, isSorted = false, staysOnDevice = false, onTrouble = unlessGone } = options;
    const device = staysOnDevice ? (await lstat(this.#within(Buffer.from(".")))).dev : null;
    const open: WalkedFolder[] = [{ folder: this, prefix: "", names: this.#names(isSorted) }];
    try {
      for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
        const { folder, prefix, names } = inner;
        const { value: bytes } = await names.next().catch((error: unknown) => {
          onTrouble(prefix.slice(0, -1), error);
          if (open.length === 1) throw error;
          return { value: undefined };
        });
        if (bytes === undefined) {
          open.pop();
          if (folder !== this) await folder[Symbol.asyncDispose]();
          continue;
        }
        if (take?.(open.length) === false) return;
        const name = bytes.toString();
        const found = `${prefix}${name}`;
        const place = folder.#within(bytes);
        try {
          const stat = await lstat(place);
          if (device !== null && stat.dev !== device) continue;
          let isEntered = stat.isDirectory();
          const isUtf8 = Buffer.from(name).equals(bytes);
          const passBy = (): void => void (isEntered = false);
          yield { folder, name, isUtf8, path: found, level: open.length, stat, place, passBy };
          if (!isEntered) continue;
        } catch (error) {
          onTrouble(found, error);
          continue;
        }
        if (open.length > options.maxDepth) {
          options.onTooDeep?.(found);
          continue;
        }
        try {
          const below = await folder.#enterClosed(bytes, options.reopensOf);
          if (below !== null) open.push({ folder: below, prefix: `${found}/`, names: below.#names(isSorted) });
        } catch (error) {
          onTrouble(found, error);
        }
      }
    } finally {
      for (const { folder, names } of open.toReversed()) {
        await names.return();
        if (folder !== this) await folder[Symbol.asyncDispose]();
      }
    }
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

  #within(name: Buffer): Buffer {
    return Buffer.concat([this.#path, Buffer.from("/"), name]);
  }

  /** One at a time, as there may be millions, unless they are sorted. */
  async *#names(isSorted: boolean): AsyncGenerator<Buffer, void, undefined> {
    const self = this.#within(Buffer.from("."));
    if (isSorted) {
      const all = (await readdir(self, { encoding: "buffer" })).map((bytes) => ({ bytes, name: bytes.toString() }));
      all.sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
      for (const { bytes } of all) yield bytes;
      return;
    }
    // Each byte is a character of Latin-1: no name is lost.
    for await (const { name } of await opendir(self, { encoding: "latin1", bufferSize: 256 })) {
      yield Buffer.from(name, "latin1");
    }
  }

  /** Null for a folder that is closed to us and belongs to another user than the one whose folders are opened again. */
  async #enterClosed(name: Buffer, ownerUid: number | undefined): Promise<HostFolder | null> {
    if (this.#handle === null) {
      const folder = await this.enter(name);
      const { uid, mode } = await lstat(folder.#path);
      // The only way there is by its name: nothing but its owner's reading is allowed here.
      if (uid === ownerUid && (mode & mayLookInto) !== mayLookInto) await chmod(folder.#path, modeToLookInto(mode));
      return folder;
    }
    try {
      return await this.enter(name);
    } catch (error) {
      if (ownerUid === undefined || (error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    }
    await using held = await this.enter(name, { onlyPass: true });
    const { uid, mode } = await lstat(held.self);
    if (uid !== ownerUid) return null;
    await chmod(held.self, modeToLookInto(mode));
    return await held.enter(".");
  }
}

/** Whether an entry is gone, or has become something else, since it was named. */
export function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function unlessGone(_: string, error: unknown): void {
  if (!isGone(error)) throw error;
}

function modeToLookInto(mode: number): number {
  return (mode & 0o7777) | mayLookInto;
}
