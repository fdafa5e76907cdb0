import { GrowthWatch, type GrowthWatchOptions } from "../../sandbox/growth-watch.ts";

/**
 * Watches the folder of what a container's programs have written to its root, which was empty at first, for more files and
 * folders than a number; its bytes are known otherwise.
 */
export function rootWatch(
  { executable, platform, now }: Pick<GrowthWatchOptions, "executable" | "platform" | "now">,
  files: number,
): (folder: string) => GrowthWatch {
  const limits = { bytes: Number.POSITIVE_INFINITY, files };
  return (folder) => {
    const place = { stablePath: folder, realPath: folder };
    return new GrowthWatch({ place, limits, startsEmpty: true, executable, platform, now });
  };
}
