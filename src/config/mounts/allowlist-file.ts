import { constants, type Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { mebibyte } from "../../base/bytes.ts";
import { errorCode } from "../../errors/error-code.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { configDirectory } from "../host/config-directory.ts";
import type { Config } from "../config.ts";
import type { Host } from "../host/host.ts";
import type { MountAllowlist } from "./allowlist-schema.ts";
import { expandHome } from "./expand-home.ts";
import { parseAllowlist } from "./parse-allowlist.ts";

/** Where a mount allowlist can be. */
export interface AllowlistPlace {
  readonly path: string;
  readonly origin: "configured" | "default" | "fft_nano";
  /** Its name in messages, which show no path. */
  readonly name: string;
}

/** A mount allowlist that was read. */
export interface AllowlistFile extends AllowlistPlace {
  readonly content: MountAllowlist;
}

const maxBytes = mebibyte;
/** The group's and everybody's right to write. */
const othersWrite = 0o022;

/** Where the allowlist is looked for; the first that exists is used; a configured one must exist. */
export function allowlistPlaces(
  { mountAllowlist }: Pick<Config, "mountAllowlist">,
  { environment, homeDirectory }: Pick<Host, "environment" | "homeDirectory">,
): readonly AllowlistPlace[] {
  if (mountAllowlist !== null) {
    const file = expandHome(mountAllowlist, homeDirectory);
    return [{ path: file, origin: "configured", name: "mount allowlist that the configuration names" }];
  }
  const ours = path.join(configDirectory(environment, homeDirectory), "mount-allowlist.json");
  const theirs = path.join(homeDirectory, ".config", "fft_nano", "mount-allowlist.json");
  return [
    { path: ours, origin: "default", name: "mount allowlist" },
    { path: theirs, origin: "fft_nano", name: "mount allowlist of FFT_nano" },
  ];
}

/**
 * The mount allowlist in force, null when there is none.
 * @throws INVALID_REQUEST if a configured one is missing, if it cannot be read or is not valid, or if anyone but its
 * owner may change it
 */
export async function readAllowlist(
  places: readonly AllowlistPlace[],
  host: Pick<Host, "platform" | "uid">,
): Promise<AllowlistFile | null> {
  for (const place of places) {
    const text = await readText(place, host);
    if (text !== null) return { ...place, content: parseAllowlist(text, place.name) };
  }
  return null;
}

async function readText(place: AllowlistPlace, host: Pick<Host, "platform" | "uid">): Promise<string | null> {
  const { path: file, origin, name } = place;
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = errorCode(cause) || "unknown reason";
    if (origin !== "configured" && (code === "ENOENT" || code === "ENOTDIR")) return null;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw refused(`The ${name} ${problem}.`, "Correct the path or the file's permissions.", cause);
  }
  await using opened = handle;
  const found = await opened.stat();
  if (!found.isFile()) throw refused(`The ${name} is not a regular file.`, "Make it a file.");
  if (found.size > maxBytes) throw refused(`The ${name} has more than 1 MB.`, "Shorten it.");
  if (host.platform !== "win32") refuseForeign(name, found, await stat(path.dirname(file)), host.uid);
  return await opened.readFile("utf8");
}

/** Anyone who can change the list decides what sandboxes get. */
function refuseForeign(name: string, file: Stats, folder: Stats, uid: number | null): void {
  if (file.uid !== 0 && file.uid !== uid) {
    throw refused(`The ${name} belongs to another user.`, "Change its owner (chown).");
  }
  if ((file.mode & othersWrite) !== 0) throw writable(`The ${name}`, "the file");
  const isSticky = (folder.mode & 0o1000) !== 0;
  if ((folder.mode & othersWrite) !== 0 && !isSticky) throw writable(`The folder of the ${name}`, "that folder");
}

function writable(what: string, short: string): GloveboxError {
  return refused(`${what} can be changed by other users.`, `Remove their access: chmod go-w on ${short}.`);
}

function refused(message: string, suggestion: string, cause?: unknown): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", message, { suggestion, cause });
}
