import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { formatBytes, gibibyte } from "../base/bytes.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Leases } from "./owners/leases.ts";
import { isPrivateFolder, makePrivateFolder } from "../base/own-folder.ts";
import { readRoom, reserveOf, type Room } from "./disk-scratch.ts";

export interface WorkArchivesOptions {
  /** Folder of all servers' archives; made when it is missing, for this user only. */
  readonly folder: string;
  /** Of this user; null where the system has no user ids. */
  readonly uid: number | null;
  /** Owner id of this process. */
  readonly owner: string;
  readonly leases: Pick<Leases, "hold" | "stateOf">;
  readonly logger: Pick<Logger, "warn">;
  /** Of all archives of one principal, in bytes. Default: 16 GiB. */
  readonly maxOfOne?: number | undefined;
  /** Default: of the file system of a folder. */
  readonly readRoom?: ((folder: string) => Promise<Room>) | undefined;
}

/** The files of a sandbox that has been stopped. */
export interface WorkArchive extends AsyncDisposable {
  /** Whether it had to go, to make room. */
  readonly gaveWay: boolean;
  /** What `save` was given; while it is read it is not removed. Reading one that is gone throws CAPACITY. */
  read(): AsyncIterable<Uint8Array>;
}

/** What is known of one. */
interface Entry {
  readonly principal: string;
  readonly file: string;
  bytes: number;
  state: "written" | "kept" | "read" | "removed";
  gaveWay: boolean;
}

const defaultMaxOfOne = 16 * gibibyte;

/**
 * Where the files of stopped sandboxes are kept, as archives that only a sandbox ever unpacks: to this process they are
 * bytes. They end with their server.
 *
 * - A principal beyond its share loses its own oldest.
 * - All together take at most half of what would be free without them, beyond the reserve. Whoever has most loses its own
 *   oldest then; one that would have most itself by the new archive is refused.
 */
export class WorkArchives {
  readonly #options: WorkArchivesOptions;
  /** Oldest first. */
  readonly #entries = new Set<Entry>();
  #count = 0;

  constructor(options: WorkArchivesOptions) {
    this.#options = options;
  }

  /** @throws CAPACITY when there is more than `maxBytes`, or no room on the disk; nothing is left then */
  async save(
    content: AsyncIterable<Uint8Array>,
    { principal, maxBytes }: { readonly principal: string; readonly maxBytes: number },
  ): Promise<WorkArchive> {
    const { leases, owner, uid } = this.#options;
    // Without a lease the archive could be taken for a dead server's.
    await leases.hold();
    await makePrivateFolder(this.#options.folder, uid);
    const folder = path.join(this.#options.folder, owner);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, `${++this.#count}.tar`);
    const entry: Entry = { principal, file, bytes: 0, state: "written", gaveWay: false };
    this.#entries.add(entry);
    try {
      await using handle = await open(entry.file, "wx", 0o600);
      for await (const chunk of content) {
        entry.bytes += chunk.length;
        if (entry.bytes > maxBytes) {
          throw new GloveboxError("CAPACITY", "The files of a session are too large to be kept.");
        }
        await this.#makeShare(entry);
        await this.#makeRoom(entry, chunk.length);
        await handle.writeFile(chunk);
      }
    } catch (error) {
      await this.#remove(entry);
      throw error;
    }
    entry.state = "kept";
    return {
      get gaveWay() {
        return entry.gaveWay;
      },
      read: () => contentOf(entry),
      [Symbol.asyncDispose]: async () => {
        if (entry.state !== "removed") await this.#remove(entry);
      },
    };
  }

  /** Removes what servers that no longer exist have left. */
  async forgetLeft(): Promise<void> {
    const { folder, uid } = this.#options;
    // Else it could be a link to anybody's files by the time they are removed.
    if (!(await isPrivateFolder(folder, uid))) return;
    const owners = await readdir(folder).catch(() => []);
    for (const owner of owners) {
      if ((await this.#options.leases.stateOf(owner)) === "living") continue;
      await rm(path.join(folder, owner), { recursive: true, force: true });
    }
  }

  /** Removes all of this server's. */
  async close(): Promise<void> {
    const { folder, owner, uid } = this.#options;
    this.#entries.clear();
    if (!(await isPrivateFolder(folder, uid))) return;
    await rm(path.join(folder, owner), { recursive: true, force: true });
  }

  /** Keeps the principal within its share. @throws CAPACITY when the new one alone is too much */
  async #makeShare({ principal }: Entry): Promise<void> {
    const { maxOfOne = defaultMaxOfOne } = this.#options;
    const own = (): number => sumOf([...this.#entries].filter((each) => each.principal === principal).map(bytesOf));
    while (own() > maxOfOne) {
      if (await this.#giveUpOldest(principal, "its share is used up")) continue;
      throw new GloveboxError(
        "CAPACITY",
        `The files of your stopped sessions have ${formatBytes(maxOfOne)} of this machine's disk.`,
        { suggestion: "End sessions that you do not need, or remove files from them.", context: { limit: maxOfOne } },
      );
    }
  }

  /** Leaves room on the disk for others. @throws CAPACITY when it is the principal's own turn to give way */
  async #makeRoom({ principal, file }: Entry, newBytes: number): Promise<void> {
    const read = this.#options.readRoom ?? readRoom;
    for (;;) {
      const room = await read(path.dirname(file));
      const totals = new Map<string, number>();
      for (const { principal: each, bytes } of this.#entries) totals.set(each, (totals.get(each) ?? 0) + bytes);
      if (room.freeBytes - newBytes - reserveOf(room) >= sumOf(totals.values())) return;
      // Who has as many as the one who saves does not have most.
      let most = principal;
      for (const [each, bytes] of totals) if (bytes > (totals.get(most) ?? 0)) most = each;
      if (most !== principal && (await this.#giveUpOldest(most, "the disk is nearly full"))) continue;
      throw new GloveboxError("CAPACITY", `This machine's disk has ${formatBytes(room.freeBytes)} free, too little.`, {
        suggestion: "End sessions that you do not need, or have the operator free space for Glovebox's state folder.",
        context: { reason: "disk_full" },
      });
    }
  }

  /** False if the principal has none that could go. */
  async #giveUpOldest(principal: string, reason: string): Promise<boolean> {
    const oldest = [...this.#entries].find((entry) => entry.principal === principal && entry.state === "kept");
    if (oldest === undefined) return false;
    oldest.gaveWay = true;
    this.#options.logger.warn(
      { principal, bytes: oldest.bytes, reason },
      "the files of a stopped session were removed",
    );
    await this.#remove(oldest);
    return true;
  }

  async #remove(entry: Entry): Promise<void> {
    entry.state = "removed";
    this.#entries.delete(entry);
    await rm(entry.file, { force: true });
  }
}

const bytesOf = ({ bytes }: Entry): number => bytes;

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum;
}

/** Opened by its first reader: a stream that nobody reads yet has nobody to tell that it cannot be opened. */
async function* contentOf(entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  if (entry.state === "removed") throw new GloveboxError("CAPACITY", "They had to go to make room on the disk.");
  entry.state = "read";
  try {
    yield* createReadStream(entry.file) as AsyncIterable<Uint8Array>;
  } finally {
    // Disposing of it may have come first.
    if (entry.state === "read") entry.state = "kept";
  }
}
