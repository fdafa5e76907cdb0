import { posix, win32, type PlatformPath } from "node:path";
import { isWithin } from "../../policy/mounts/mount-policy.ts";

/** A mount, by its paths on this machine and its path in the sandbox. */
export interface MountedAt {
  /** As given, and the real path. */
  readonly hostPaths: readonly string[];
  readonly target: string;
}

/**
 * A path of this machine, also after `--option=`, as its path in the sandbox if it is in a mount; other text is
 * unchanged.
 */
export function insidePath(text: string, mounts: readonly MountedAt[], platform: NodeJS.Platform): string {
  const flavour: PlatformPath = platform === "win32" ? win32 : posix;
  const [, option = "", given = ""] = /^(-{1,2}[\w-]+=)?(.*)$/s.exec(text) ?? [];
  if (!flavour.isAbsolute(given)) return text;
  for (const { hostPaths, target } of mounts) {
    const root = hostPaths.find((each) => flavour.isAbsolute(each) && isWithin(given, each, flavour));
    if (root === undefined) continue;
    const below = flavour.relative(root, given).replaceAll(flavour.sep, "/");
    return `${option}${below === "" ? target : `${target}/${below}`}`;
  }
  return text;
}
