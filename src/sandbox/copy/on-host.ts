import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import { lstat, readlink, realpath } from "node:fs/promises";
import type { Stats } from "node:fs";
import path, { type PlatformPath } from "node:path";
import { HostFolder } from "../../base/host-folder.ts";

const rows: Readonly<Record<string, readonly [type: ErrorType, says: string]>> = {
  ENOENT: ["NOT_FOUND", "does not exist on this machine"],
  ENOTDIR: ["INVALID_REQUEST", "is no folder on this machine, or a link, which is not followed"],
  ELOOP: ["INVALID_REQUEST", "is a link on this machine, which is not followed"],
  EISDIR: ["INVALID_REQUEST", "is a folder on this machine"],
  ENOTEMPTY: ["INVALID_REQUEST", "is a folder on this machine"],
  EEXIST: ["INVALID_REQUEST", "is something else on this machine already"],
  EACCES: ["PERMISSION_DENIED", "is not open to you on this machine"],
  EPERM: ["PERMISSION_DENIED", "is not open to you on this machine"],
  EROFS: ["PERMISSION_DENIED", "cannot be written on this machine"],
  ENOSPC: ["POLICY_DENIED", "does not fit: this machine's disk is full"],
  EDQUOT: ["POLICY_DENIED", "does not fit: your quota on this machine is full"],
  EAGAIN: ["PERMISSION_DENIED", "is held by another program of this machine, which has a lease on it"],
  EMFILE: ["CAPACITY", "cannot be opened: too many files are open on this machine"],
  ENFILE: ["CAPACITY", "cannot be opened: too many files are open on this machine"],
  ENAMETOOLONG: ["INVALID_REQUEST", "has a name that is too long for this machine"],
};

/**
 * The result of work on this machine's files; failures are translated to the catalogue's errors, with `path` as the
 * caller or the sandbox named it.
 */
export async function onHost<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw hostError(path, error);
  }
}

/** An error of work on this machine's files as the catalogue has it; others as they are. */
export function hostError(path: string, error: unknown): unknown {
  const [type, says] = rows[(error as NodeJS.ErrnoException).code ?? ""] ?? [];
  if (type === undefined || error instanceof GloveboxError) return error;
  return new GloveboxError(type, `${JSON.stringify(path.slice(0, 200))} ${says}.`, {
    suggestion: "Name another path.",
    context: { path },
    cause: error,
  });
}

/** A file or folder of this machine, by its name in its parent folder, which is held open. */
interface FoundOnHost extends AsyncDisposable {
  readonly parent: HostFolder;
  readonly name: string;
  readonly stat: Stats;
}

/**
 * Finds what a path names without following links: a sandbox that has or had one of the folders on the way as a mount
 * can leave links there to files that it has no access to. Only a name directly below the root may be a link, as `/tmp`
 * and `/var` are on some systems: no sandbox can write there.
 * @throws INVALID_REQUEST naming the link, NOT_FOUND, PERMISSION_DENIED
 */
export async function findOnHost(place: string, platform: NodeJS.Platform): Promise<FoundOnHost> {
  const { root, names: all } = partsOf(place);
  const [first, ...names] = all;
  const top = first === undefined ? root : await onHost(place, realpath(path.join(root, first)));
  const name = names.pop();
  const folder = await descend(await onHost(place, HostFolder.pass(top, platform)), { top, names, makes: false });
  if (name === undefined) return foundIn(folder, ".", place);
  try {
    await refuseLink(folder.at(name), path.join(top, ...names, name));
    return await foundIn(folder, name, place);
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Opens a folder of this machine by its absolute path, and makes what is missing of it; follows links as little as
 * `findOnHost`. @throws INVALID_REQUEST naming the link, PERMISSION_DENIED, POLICY_DENIED when the disk is full
 */
export async function makeOnHost(place: string, platform: NodeJS.Platform): Promise<HostFolder> {
  const { root, names: all } = partsOf(place);
  const [first, ...names] = all;
  let top = root;
  if (first !== undefined) {
    await using above = await onHost(place, HostFolder.pass(root, platform));
    await onHost(place, above.make(first, 0o777));
    top = await onHost(place, realpath(path.join(root, first)));
  }
  const passed = await onHost(place, HostFolder.pass(top, platform));
  await using folder = await descend(passed, { top, names, makes: true });
  return await onHost(place, folder.enter("."));
}

/** The root of an absolute path and the names that lead down from it. `flavour`: the syntax of this machine's paths. */
export function partsOf(
  place: string,
  flavour: PlatformPath = path,
): { readonly root: string; readonly names: readonly string[] } {
  const { root } = flavour.parse(place);
  return { root, names: place.slice(root.length).split(flavour.sep).filter(Boolean) };
}

/**
 * The path down to a folder of this machine, each name looked up in the folder above it; what two paths share stays
 * open.
 */
export class FolderWay implements AsyncDisposable {
  readonly #root: HostFolder;
  readonly #way: { readonly name: string; readonly folder: HostFolder }[] = [];

  /** The caller keeps ownership of the root. */
  constructor(root: HostFolder) {
    this.#root = root;
  }

  /** The folder of these names, open until another is entered. @throws Node's error, ENOTDIR also for a link */
  async enter(names: readonly string[]): Promise<HostFolder> {
    const other = this.#way.findIndex(({ name }, index) => name !== names[index]);
    await this.#leave(other < 0 ? Math.min(this.#way.length, names.length) : other);
    for (const name of names.slice(this.#way.length)) {
      this.#way.push({ name, folder: await this.#current.enter(name) });
    }
    return this.#current;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave(0);
  }

  get #current(): HostFolder {
    return this.#way.at(-1)?.folder ?? this.#root;
  }

  async #leave(depth: number): Promise<void> {
    for (const { folder } of this.#way.splice(depth).toReversed()) await folder[Symbol.asyncDispose]();
  }
}

/**
 * The permissions of a file or folder of this machine inside a sandbox. Windows only has a read-only flag: from there
 * every file is executable and every folder can be entered, as with Docker's own client.
 */
export function modeOnHost(stat: Pick<Stats, "mode" | "isDirectory">, platform: NodeJS.Platform): number {
  if (platform !== "win32") return stat.mode & 0o777;
  return stat.isDirectory() || (stat.mode & 0o200) !== 0 ? 0o755 : 0o555;
}

/** The target of a link of this machine, in Linux's notation. */
export function linkTargetOnHost(target: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? target.replaceAll("\\", "/") : target;
}

/** The folder that the names lead to from an open one, which is closed. */
async function descend(
  from: HostFolder,
  { top, names, makes }: { readonly top: string; readonly names: readonly string[]; readonly makes: boolean },
): Promise<HostFolder> {
  let folder = from;
  let at = top;
  try {
    for (const each of names) {
      at = path.join(at, each);
      if (makes) await onHost(at, folder.make(each, 0o777));
      await refuseLink(folder.at(each), at);
      const next = await onHost(at, folder.enter(each, { onlyPass: true }));
      await folder[Symbol.asyncDispose]();
      folder = next;
    }
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function foundIn(parent: HostFolder, name: string, place: string): Promise<FoundOnHost> {
  const stat = await onHost(place, lstat(parent.at(name)));
  return { parent, name, stat, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() };
}

async function refuseLink(at: string, shown: string): Promise<void> {
  if (!(await onHost(shown, lstat(at))).isSymbolicLink()) return;
  const target = path.resolve(path.dirname(shown), await readlink(at));
  throw new GloveboxError(
    "INVALID_REQUEST",
    `${JSON.stringify(shown)} is a link on this machine: it is not followed.`,
    {
      suggestion: `A sandbox may have left it. If you mean what it leads to, name that: ${JSON.stringify(target)}.`,
      context: { path: shown, target },
    },
  );
}
