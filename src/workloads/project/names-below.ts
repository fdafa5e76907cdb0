import path from "node:path";

/** Names from a folder down to a place below it, both absolute and normal; null: it is not below. */
export function namesBelow(folder: string, place: string, platform: NodeJS.Platform): readonly string[] | null {
  const paths = pathsOf(platform);
  const between = paths.relative(folder, place);
  if (between === "" || paths.isAbsolute(between)) return null;
  const names = between.split(paths.sep);
  return names[0] === ".." ? null : names;
}

/** The work tree in whose `.git` a place is, by its path alone; null: in none. */
export function workTreeOf(place: string, platform: NodeJS.Platform): string | null {
  const { sep } = pathsOf(platform);
  const end = place.indexOf(`${sep}.git${sep}`);
  return end <= 0 ? null : place.slice(0, end);
}

function pathsOf(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}
