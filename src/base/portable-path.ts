import path, { type PlatformPath } from "node:path";

/** A relative path of this machine with slashes, as requests and sandboxes have it. `flavour`: the machine's kind of paths. */
export function portablePath(relative: string, flavour: PlatformPath = path): string {
  return relative.replaceAll(flavour.sep, "/");
}

/**
 * The path with slashes if it leads to a place below the folder that it starts at, null if it could lead elsewhere: an
 * absolute one, one of another drive, and one that goes up.
 */
export function pathBelow(given: string, flavour: PlatformPath = path): string | null {
  // `C:file` is not absolute, and still lies wherever drive C is at the moment.
  if (flavour.isAbsolute(given) || flavour.parse(given).root !== "") return null;
  const below = portablePath(flavour.normalize(given), flavour);
  return below === ".." || below.startsWith("../") ? null : below;
}
