import { constants, type BigIntStats } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import type { PlaceKind } from "../policy/mounts/mount-verdict.ts";
import type { ToolingSnapshot, ToolingGap } from "../policy/tooling-changes.ts";
import { HostFolder } from "../base/host-folder.ts";
import type { OpenPlace } from "./mounts/open-place.ts";
import { readBounded } from "./mounts/read-bounded.ts";

/** Errors of what is not there, or no file or folder but a link, socket or the like, which is noted by itself. */
const missing: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "ENAMETOOLONG"]);

/** What is looked at below one path, whatever a program has made of it; so one folder cannot hide another. */
const max = { entries: 512, depth: 16, names: 4_096 } as const;
const withinMs = 2_000;

/**
 * One look at files of a project, name by name from a folder that is held open: no link is followed, nothing that is no
 * plain file is opened, and neither many entries nor a slow disk hold it up.
 */
export class PathLook {
  readonly #root: HostFolder;
  readonly #late = AbortSignal.timeout(withinMs);
  readonly #states = new Map<string, string>();
  readonly #places = new Map<string, PlaceKind>();
  readonly #gaps = new Set<ToolingGap>();

  /** @throws Node's error when the project cannot be opened */
  static async open(place: Pick<OpenPlace, "stablePath">, platform: NodeJS.Platform): Promise<PathLook> {
    return new PathLook(await HostFolder.of(place, platform));
  }

  private constructor(root: HostFolder) {
    this.#root = root;
  }

  /** What each path is that was asked for and exists; links and the like are `other`. */
  get places(): ReadonlyMap<string, PlaceKind> {
    return this.#places;
  }

  /** What was seen until now. */
  get snapshot(): ToolingSnapshot {
    return this.#states;
  }

  /** Why something was left out; none: nothing was. */
  get gaps(): readonly ToolingGap[] {
    return [...this.#gaps];
  }

  /** Something is left out. */
  leaveOut(gap: ToolingGap): void {
    this.#gaps.add(gap);
  }

  close(): Promise<void> {
    return this.#root[Symbol.asyncDispose]();
  }

  /** Notes the state of a file, or of all in a folder; nothing where there is none. */
  async note(path: string): Promise<void> {
    await this.#within(path, async (folder, name) => {
      const stat = await this.#stat(folder, name, path);
      if (stat === null) return;
      this.#add(path, stat);
      this.#keep(path, stat);
      if (!stat.isDirectory()) return;
      await using inner = await folder.enter(name);
      await this.#noteBelow(inner, path);
    });
  }

  /** Notes a file or the folder alone; resolves to what it is. */
  async noteAlone(path: string): Promise<PlaceKind | null> {
    return this.#within(path, async (folder, name) => {
      const stat = await this.#stat(folder, name, path);
      if (stat === null) return null;
      this.#add(path, stat);
      return this.#keep(path, stat);
    });
  }

  /** What a path is, without noting it; null: nothing. */
  async kind(path: string): Promise<PlaceKind | null> {
    return this.#within(path, async (folder, name) => kindOf(await lstat(folder.at(name), { bigint: true })));
  }

  /** Names in a folder, at most 4,096; none where there is no folder. */
  async names(path: string): Promise<readonly string[]> {
    return [...(await this.entries(path)).keys()];
  }

  /** The same, each with whether it is a folder. */
  async entries(path: string): Promise<ReadonlyMap<string, boolean>> {
    const way = path === "." ? "." : `${path}/.`;
    return (await this.#within(way, (folder) => this.#list(folder, max.names))) ?? new Map<string, boolean>();
  }

  /** The bytes of a plain file that has no more than `maxBytes`, else null. */
  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    return this.#within(path, async (folder, name) => {
      // Neither a FIFO nor a lease makes the opening wait.
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      await using file = await open(folder.at(name), flags);
      if (!(await file.stat()).isFile()) return null;
      const bytes = await readBounded(file, maxBytes);
      if (bytes === null) this.leaveOut("large");
      return bytes;
    });
  }

  /** Enters the folders of a path one by one; null where one is missing, a link, or cannot be entered. */
  async #within<T>(path: string, work: (folder: HostFolder, name: string) => Promise<T>): Promise<T | null> {
    if (!this.#mayGoOn()) return null;
    const parts = path.split("/");
    const opened: HostFolder[] = [];
    let folder = this.#root;
    try {
      for (const [index, part] of parts.slice(0, -1).entries()) {
        const outer = folder;
        folder = await outer.enter(part).catch(async (error: unknown) => {
          // If it is now a link, or a file, it leads the owner's tools elsewhere.
          await this.#noteInstead(outer, part, parts.slice(0, index + 1).join("/"));
          throw error;
        });
        opened.push(folder);
      }
      return await work(folder, parts.at(-1) ?? "");
    } catch (error) {
      this.#tell(error);
      return null;
    } finally {
      await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()));
    }
  }

  async #noteInstead(folder: HostFolder, name: string, path: string): Promise<void> {
    const stat = await this.#stat(folder, name, path);
    if (stat !== null && !stat.isDirectory()) this.#add(path, stat);
  }

  /** Of what is missing or was replaced meanwhile the notes of the folders above tell. */
  #tell(error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    if (!missing.has(code)) this.leaveOut(code === "EAGAIN" || code === "EWOULDBLOCK" ? "held" : "unreadable");
  }

  async #noteBelow(folder: HostFolder, above: string): Promise<void> {
    let left: number = max.entries;
    const take = (): boolean => {
      if (left <= 0) this.leaveOut("many");
      if (!this.#mayGoOn() || left <= 0) return false;
      left -= 1;
      return true;
    };
    const onTrouble = (below: string, error: unknown): void => {
      const path = `${above}/${below}`;
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!missing.has(code) && !this.#states.has(path)) this.#states.set(path, code);
      this.#tell(error);
    };
    for await (const entry of folder.walk({ maxDepth: max.depth, take, onTrouble })) {
      const path = `${above}/${entry.path}`;
      // Times to the nanosecond, which tell of every change.
      const stat = await lstat(entry.place, { bigint: true }).catch((error: unknown) => onTrouble(entry.path, error));
      if (stat === undefined) continue;
      this.#add(path, stat);
      if (!entry.isUtf8) {
        // Its path here may be that of another entry, too.
        this.leaveOut("unreadable");
        entry.passBy();
      }
      if (!stat.isDirectory() || entry.level < max.depth) continue;
      entry.passBy();
      // A folder's own time shows at least that names in it were added or removed.
      this.#states.set(path, `${stat.ino} ${stat.ctimeNs}`);
      this.leaveOut("many");
    }
  }

  async #list(folder: HostFolder, most: number): Promise<ReadonlyMap<string, boolean>> {
    const entries = new Map<string, boolean>();
    for await (const entry of await opendir(folder.self, { bufferSize: 256 })) {
      if (entries.size === most) this.leaveOut("many");
      if (entries.size === most || !this.#mayGoOn()) break;
      entries.set(entry.name, entry.isDirectory());
    }
    return entries;
  }

  async #stat(folder: HostFolder, name: string, path: string): Promise<BigIntStats | null> {
    try {
      return await lstat(folder.at(name), { bigint: true });
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      // A name that is not UTF-8 exists but cannot be asked about.
      if (code === "ENOENT" && !name.includes("\ufffd")) return null;
      this.#states.set(path, code);
      this.leaveOut("unreadable");
      return null;
    }
  }

  /** The content of a folder is noted by itself, so that only its own replacement counts. */
  #add(path: string, stat: BigIntStats): void {
    const { ino, mode, size, mtimeNs, ctimeNs } = stat;
    this.#states.set(path, stat.isDirectory() ? `${ino}` : `${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`);
  }

  #keep(path: string, stat: BigIntStats): PlaceKind {
    const kind = kindOf(stat);
    this.#places.set(path, kind);
    return kind;
  }

  #mayGoOn(): boolean {
    if (!this.#late.aborted) return true;
    this.leaveOut("time");
    return false;
  }
}

function kindOf(stat: BigIntStats): PlaceKind {
  const file = stat.isFile() ? "file" : "other";
  return stat.isDirectory() ? "folder" : file;
}
