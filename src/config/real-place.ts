import { realpath } from "node:fs/promises";
import path from "node:path";

/**
 * The real path of something that may not exist (yet): that of its deepest existing folder, followed by the rest
 * unchanged.
 */
export async function realPlace(given: string): Promise<string> {
  const rest: string[] = [];
  for (let place = given; ; place = path.dirname(place)) {
    const real = await existingPlace(place);
    if (real !== null) return path.join(real, ...rest);
    if (place === path.dirname(place)) return given;
    rest.unshift(path.basename(place));
  }
}

/** The real path of what exists, null if it does not exist or cannot be reached. */
export async function existingPlace(given: string): Promise<string | null> {
  try {
    return await realpath(given);
  } catch {
    // Missing, or in a folder that cannot be entered: either way it cannot be reached from here.
    return null;
  }
}
