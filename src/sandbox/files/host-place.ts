import type { Stats } from "node:fs";
import { chmod, lstat, stat } from "node:fs/promises";
import { posix } from "node:path";
import { HostFolder } from "../../base/host-folder.ts";
import { fileError } from "./file-error.ts";
import { insidePath } from "./inside-path.ts";

/** A folder of a sandbox that is on this machine: its programs, which may be hostile, write to it while we read. */
export interface HostPlace {
  /** Path inside. */
  readonly inside: string;
  /** Real path here, which only we can change. */
  readonly here: string;
  readonly readOnly: boolean;
}

export interface HostPlaces {
  readonly places: readonly HostPlace[];
  readonly platform: NodeJS.Platform;
  /** @throws SANDBOX_LOST if the folders are gone, or about to be removed */
  readonly assertLiving: () => Promise<void>;
}

/** The kernel's error, in the form that `fileError` knows. */
const words: Readonly<Record<string, string>> = {
  ENOENT: "No such file",
  ENOTDIR: "Not a directory",
  EISDIR: "Is a directory",
  ELOOP: "Link not followed",
  ENXIO: "Not a regular file",
  EOPNOTSUPP: "Not a regular file",
  EACCES: "Permission denied",
  EPERM: "Permission denied",
  EROFS: "Read-only file system",
  ENOSPC: "No space left on device",
  EDQUOT: "Disk quota exceeded",
  ENAMETOOLONG: "File name too long",
};

/** An open folder, and the names that lead down from it. */
export class OpenHostPlace implements AsyncDisposable {
  readonly names: readonly string[];
  readonly readOnly: boolean;
  /** Owner of everything in it. */
  readonly owner: Pick<Stats, "uid" | "gid">;
  readonly #root: HostFolder;
  readonly #path: string;

  /** Opens the folder that a path inside is in. @throws NOT_FOUND, INVALID_REQUEST, PERMISSION_DENIED, SANDBOX_LOST */
  static async open({ places, platform, assertLiving }: HostPlaces, path: string): Promise<OpenHostPlace> {
    // Links are not followed here, so `..` goes up exactly one level.
    const normal = posix.normalize(insidePath(path));
    const ways = places.flatMap((place) => [place.inside, place.here].map((top) => ({ place, top })));
    const [found] = ways
      .filter(({ top }) => normal === top || normal.startsWith(`${top}/`))
      .toSorted((a, b) => b.top.length - a.top.length);
    if (found === undefined) throw fileError(path, "No such file");
    await assertLiving();
    const names = normal.slice(found.top.length).split("/").filter(Boolean);
    return onPlace(path, OpenHostPlace.#open(found.place, platform, { names, path }));
  }

  static async #open(
    { here, readOnly }: HostPlace,
    platform: NodeJS.Platform,
    { names, path }: { readonly names: readonly string[]; readonly path: string },
  ): Promise<OpenHostPlace> {
    await using passed = await HostFolder.pass(here, platform);
    const facts = await (platform === "linux" ? stat(passed.self) : lstat(here));
    if (!facts.isDirectory()) throw fileError(path, "Not a directory");
    // A program may have removed permissions that we need too.
    if (!readOnly && (facts.mode & 0o700) !== 0o700) await chmod(passed.self, 0o755);
    return new OpenHostPlace(await passed.enter("."), { names, path, readOnly, owner: facts });
  }

  private constructor(
    root: HostFolder,
    { names, path, readOnly, owner }: Pick<OpenHostPlace, "names" | "readOnly" | "owner"> & { readonly path: string },
  ) {
    this.#root = root;
    this.#path = path;
    this.names = names;
    this.readOnly = readOnly;
    this.owner = owner;
  }

  /** The folder at a path, each name looked up in the one above it; no link is followed. */
  async enter(names: readonly string[], { make = false } = {}): Promise<HostFolder> {
    let folder = await onPlace(this.#path, this.#root.enter("."));
    for (const name of names) {
      try {
        const isNew = make && (await onPlace(this.#path, folder.make(name, 0o755)));
        const next = await onPlace(this.#path, folder.enter(name));
        if (isNew) await next.giveTo(this.owner);
        await folder[Symbol.asyncDispose]();
        folder = next;
      } catch (error) {
        await folder[Symbol.asyncDispose]();
        throw error;
      }
    }
    return folder;
  }

  /** Whether the opened file is the sandbox's own: a hard link to someone else's file is not. */
  isOwn({ uid }: Pick<Stats, "uid">): boolean {
    return uid === this.owner.uid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root[Symbol.asyncDispose]();
  }
}

/** The result of work on a sandbox's folders; failures are translated as for `SandboxFiles`, with the path inside. */
export async function onPlace<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw placeError(path, error);
  }
}

/** An error of work on a sandbox's folders as `onPlace` translates it; others as they are. */
export function placeError(path: string, error: unknown): unknown {
  const said = words[(error as NodeJS.ErrnoException).code ?? ""];
  return said === undefined ? error : fileError(path, said);
}
