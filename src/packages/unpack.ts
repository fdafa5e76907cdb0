import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { ByteReader } from "../base/streams/byte-reader.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import { checkRelativePath } from "../policy/request/request-paths.ts";
import { diskBytesOf, runsAtStart } from "./set-folder.ts";
import { parsePackages, type ResolvedPackage } from "./package-set.ts";

/** What was unpacked. */
export interface Unpacked {
  readonly packages: readonly ResolvedPackage[];
  readonly files: number;
  readonly folders: number;
  /** Room on the disk, each file and folder by `diskBytesOf`. */
  readonly bytes: number;
}

export interface UnpackLimits {
  /** Files and folders together. */
  readonly maxEntries: number;
  /** Names of a path. */
  readonly maxDepth: number;
  /** As in `Unpacked`. */
  readonly maxBytes: number;
}

const maxListBytes = 1024 * 1024;
const maxEntryBytes = 8 * 1024;

/**
 * Writes what a packer of `images/packers` sends into an empty folder: read-only files, and no link of any kind, so that
 * no path can lead out of it, and of Python's files none that would run at every start. The sender ran what strangers
 * wrote: its input is untrusted.
 * @throws RangeError for what no packer of ours sends or what is beyond the limits, GloveboxError for a bad path
 */
export async function unpack(
  stream: AsyncIterable<Uint8Array>,
  folder: string,
  { ecosystem, ...limits }: UnpackLimits & { readonly ecosystem: Ecosystem },
): Promise<Unpacked> {
  const reader = new ByteReader(stream);
  const packages = parsePackages(JSON.parse(await reader.line(maxListBytes)), ecosystem);
  const room = new Room(limits);
  let sent = 0;
  let parent = "";
  for (;;) {
    const entry = parseEntry(JSON.parse(await reader.line(maxEntryBytes)));
    if ("files" in entry) {
      if (entry.files !== sent) throw new RangeError("files are missing");
      return { packages, ...room.used };
    }
    sent += 1;
    const relative = checkRelativePath(entry.path, "path");
    room.takeFile(relative, entry.size);
    if (ecosystem === "python" && runsAtStart(relative)) {
      await reader.take(entry.size).skip();
      continue;
    }
    const target = path.join(folder, ...relative.split("/"));
    // One folder's files come one after another.
    if (path.dirname(target) !== parent) await makeFolder((parent = path.dirname(target)), room);
    // Exclusive: a name that is there already, also one that differs in case only, is not written through.
    await using file = await open(target, "wx", 0o600);
    for await (const piece of reader.take(entry.size).chunks) await file.writeFile(piece);
    // Whatever our own umask is: sandboxes read them as another user.
    await file.chmod(entry.executable ? 0o555 : 0o444);
  }
}

/** Makes the folder, and those above it, each counted once; that of the set is there. */
async function makeFolder(folder: string, room: Room): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT") throw error;
    await makeFolder(path.dirname(folder), room);
    return makeFolder(folder, room);
  }
  room.takeFolder();
}

/** Counts what a set gets, and throws RangeError where that is more than it may have. */
export class Room {
  readonly #limits: UnpackLimits;
  readonly used = { files: 0, folders: 0, bytes: 0 };

  constructor(limits: UnpackLimits) {
    this.#limits = limits;
  }

  takeFile(relative: string, sizeBytes: number): void {
    const { maxDepth } = this.#limits;
    if (relative.split("/").length > maxDepth) throw new RangeError(`folders more than ${maxDepth} deep`);
    this.used.files += 1;
    this.#take(sizeBytes);
  }

  takeFolder(): void {
    this.used.folders += 1;
    this.#take(0);
  }

  #take(sizeBytes: number): void {
    const { maxEntries, maxBytes } = this.#limits;
    this.used.bytes += diskBytesOf(sizeBytes);
    if (this.used.files + this.used.folders > maxEntries)
      throw new RangeError(`more than ${maxEntries} files and folders`);
    if (this.used.bytes > maxBytes) throw new RangeError(`more than ${maxBytes} bytes on the disk`);
  }
}

type Entry =
  | { readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly files: number };

function parseEntry(value: unknown): Entry {
  const { path: name, size, executable, files } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof files === "number") return { files };
  if (typeof name === "string" && typeof size === "number" && Number.isSafeInteger(size) && size >= 0) {
    return { path: name, size, executable: executable === true };
  }
  throw new RangeError("no entry");
}
