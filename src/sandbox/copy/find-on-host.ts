import { lstat, readlink, realpath } from "node:fs/promises";
import type { Stats } from "node:fs";
import path, { type PlatformPath } from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "./on-host.ts";

/** A file or folder of this machine, by its name in its parent folder, which is held open. */
export interface FoundOnHost extends AsyncDisposable {
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

/** The root of an absolute path and the names that lead down from it. `flavour`: the syntax of this machine's paths. */
export function partsOf(
  place: string,
  flavour: PlatformPath = path,
): { readonly root: string; readonly names: readonly string[] } {
  const { root } = flavour.parse(place);
  return { root, names: place.slice(root.length).split(flavour.sep).filter(Boolean) };
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
