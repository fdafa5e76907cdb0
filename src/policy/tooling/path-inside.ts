import path from "node:path";

/**
 * The path from the project's root of what a file of the project names, null when it lies outside.
 * `folder` is the folder that relative names start at, from the root ("" for the root itself).
 */
export function pathInside(root: string, folder: string, named: string): string | null {
  if (named === "" || named.includes("\0")) return null;
  const absolute = path.posix.resolve(root, folder, named);
  if (!absolute.startsWith(`${root === "/" ? "" : root}/`)) return null;
  const inside = path.posix.relative(root, absolute);
  return inside === "" ? null : inside;
}
