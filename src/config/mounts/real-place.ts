import { realpath } from "node:fs/promises";
import path from "node:path";

/** The real path of what may not exist (yet): that of its innermost folder that exists, and the rest as it is. */
export async function realPlace(given: string): Promise<string> {
  const rest: string[] = [];
  for (let place = given; ; place = path.dirname(place)) {
    const real = await existingPlace(place);
    if (real !== null) return path.join(real, ...rest);
    if (place === path.dirname(place)) return given;
    rest.unshift(path.basename(place));
  }
}

/** The real path of what exists, null when nothing that can be reached is there. */
export async function existingPlace(given: string): Promise<string | null> {
  try {
    return await realpath(given);
  } catch {
    // Missing, or behind a folder that cannot be entered: either way no path leads there from here.
    return null;
  }
}
