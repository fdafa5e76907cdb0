import { chown, mkdir } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../../../errors/error-code.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { openPlace, type OpenPlace, type PlaceOwner } from "../../../sandbox/mounts/open-place.ts";

/** How a folder below another is opened. */
export interface EnterFolder {
  readonly platform: NodeJS.Platform;
  /** Its name in errors, such as `groups/family/logs`, which is not a path of this machine. */
  readonly shownAs: string;
  /** Created if missing, and given to this owner if this process may; null: it must exist. */
  readonly make: PlaceOwner | null;
}

const maxTries = 3;

/**
 * Opens a folder by name in another open folder, without following links: agents write to some of these folders, and
 * may have replaced one with a link (SPEC MO4).
 * @throws NOT_FOUND if it is missing, POLICY_DENIED if it is a link or not a folder, PERMISSION_DENIED
 */
export async function enterFolder(parent: OpenPlace, name: string, enter: EnterFolder): Promise<OpenPlace> {
  const isNew = enter.make !== null && (await makeFolder(parent, name, enter));
  const place = await openNamed(path.join(parent.realPath, name), enter);
  try {
    // Changes the open folder itself, and only one that was just created here, which nobody else has accessed.
    if (isNew && enter.make !== null && place.owner.uid === 0 && enter.make.uid !== 0) {
      await chown(place.stablePath, enter.make.uid, enter.make.gid);
      return { ...place, owner: enter.make };
    }
    return place;
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw cannotUse(enter.shownAs, error);
  }
}

/** The same for a folder that may be missing: null then. */
export async function enterIfThere(
  parent: OpenPlace,
  name: string,
  enter: Omit<EnterFolder, "make">,
): Promise<OpenPlace | null> {
  try {
    return await enterFolder(parent, name, { ...enter, make: null });
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "NOT_FOUND") return null;
    throw error;
  }
}

async function makeFolder(parent: OpenPlace, name: string, { shownAs }: EnterFolder): Promise<boolean> {
  try {
    await mkdir(path.join(parent.stablePath, name), { mode: 0o755 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw cannotUse(shownAs, error);
  }
}

async function openNamed(expected: string, { platform, shownAs }: EnterFolder): Promise<OpenPlace> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const place = await openPlace(expected, platform).catch((error: unknown) => {
      throw cannotUse(shownAs, error);
    });
    if (place === null) continue;
    if (place.realPath === expected && place.kind === "folder") return place;
    await place[Symbol.asyncDispose]();
    throw place.realPath === expected ? refused(shownAs, "no-folder", "is no folder") : isLink(shownAs);
  }
  throw refused(shownAs, "changed", "was replaced while it was opened");
}

function cannotUse(shownAs: string, error: unknown): GloveboxError {
  const code = errorCode(error);
  if (code === "ENOENT") {
    return new GloveboxError("NOT_FOUND", `The folder ${shownAs} does not exist.`, {
      suggestion: "Make it, or correct agents.directory in the configuration.",
      context: { folder: shownAs },
      cause: error,
    });
  }
  // A link that leads to itself, or through something that is not a folder.
  if (code === "ELOOP" || code === "ENOTDIR") return isLink(shownAs);
  return new GloveboxError("PERMISSION_DENIED", `The folder ${shownAs} cannot be opened or made (${code}).`, {
    suggestion: "Give the user that runs Glovebox the rights to it.",
    context: { folder: shownAs },
    cause: error,
  });
}

function isLink(shownAs: string): GloveboxError {
  return refused(shownAs, "link", "is a link, or lies behind one; links are not followed here");
}

function refused(shownAs: string, rule: string, what: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `The folder ${shownAs} ${what}.`, {
    suggestion: `Look at what is there, and put a folder of that name in its place: an agent may have replaced it.`,
    context: { folder: shownAs, rule },
  });
}
