import { posix } from "node:path";
import { E2bRefusal } from "../refusal.ts";

/** Where programs of a sandbox start, and its home. */
export const homeFolder = "/home/user";

/** A path as clients write it, absolute inside the sandbox. @throws E2bRefusal 400 for an empty one */
export function absoluteInside(path: string): string {
  if (path === "") throw new E2bRefusal(400, "path: expected a path inside the sandbox, got nothing");
  if (path === "~" || path.startsWith("~/")) return posix.join(homeFolder, path.slice(1));
  return posix.resolve(homeFolder, path);
}
