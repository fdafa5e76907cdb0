import { cancelled } from "../../base/abort.ts";
import { GloveboxError, isSandboxLoss, errorCode } from "../../errors/glovebox-error.ts";
import { HostFolder } from "../../base/host-folder.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { maxEntries, ignoringFilter, LeftOut, type ProjectSource } from "./copy-project.ts";
import { TreeSize, watchFolder, type KnownFolder, type FolderWatch } from "./known-tree.ts";
import { ProjectLook } from "./look-at-project.ts";
import { PendingChanges } from "./pending-changes.ts";
import { TrackedFiles } from "./tracked-files.ts";
import { isSameTracked, type TrackedFolder } from "./tracked-tree.ts";
import { constants } from "node:fs";
import { lstat, open, readlink, type FileHandle } from "node:fs/promises";
import { FolderWay, linkTargetOnHost, modeOnHost } from "../../sandbox/copy/on-host.ts";
import type { NewTreeEntry } from "../../sandbox/files/file-way.ts";
import type { Kit } from "../../base/kit.ts";

/**
 * What stands at these paths of a project now, each of which is a file, a link or a folder. What is gone meanwhile is left
 * out; what is not readable is noted.
 */
export async function* readChanges(
  root: HostFolder,
  paths: readonly string[],
  leftOut: LeftOut,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  await using way = new FolderWay(root);
  for (const path of paths) {
    const names = path.split("/");
    try {
      const folder = await way.enter(names.slice(0, -1));
      yield* readOne(folder, names.at(-1) ?? "", path);
    } catch (error) {
      const code = errorCode(error);
      if (code === "EACCES" || code === "EPERM") leftOut.add(path, "not readable");
      else if (!["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EINVAL"].includes(code)) throw error;
    }
  }
}

async function* readOne(folder: HostFolder, name: string, path: string): AsyncGenerator<NewTreeEntry, void, undefined> {
  const place = folder.at(name);
  const stat = await lstat(place);
  const facts = { path, mode: modeOnHost(stat, folder.platform), modifiedAtMs: Math.floor(stat.mtimeMs) };
  // Its owner inside must be able to fill it later.
  if (stat.isDirectory()) yield { ...facts, kind: "folder", mode: facts.mode | 0o700 };
  else if (stat.isSymbolicLink())
    yield { ...facts, kind: "link", target: linkTargetOnHost(await readlink(place), folder.platform) };
  else if (stat.isFile()) yield* readFile(place, path, folder.platform);
}

async function* readFile(
  place: string,
  path: string,
  platform: NodeJS.Platform,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  // A FIFO must not make the opening wait, should it have taken the file's place.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  await using handle = await open(place, flags);
  const stat = await handle.stat();
  if (!stat.isFile()) return;
  const mode = modeOnHost(stat, platform);
  const facts = { path, mode, modifiedAtMs: Math.floor(stat.mtimeMs), sizeBytes: stat.size };
  yield { kind: "file", ...facts, chunks: exactly(handle, stat.size) };
}

/** So many bytes: what a file has gained meanwhile is cut off, what it has lost is zeros; the next change brings the rest. */
async function* exactly(handle: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let left = sizeBytes;
  while (left > 0) {
    const buffer = Buffer.alloc(Math.min(left, 256 * 1024));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    left -= bytesRead === 0 ? buffer.length : bytesRead;
    yield bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
  }
}

/** A turn comes when so long nothing more has changed, and at the latest so long after the first change. */
const quietMs = 40;
const lateMs = 250;
/** After a turn that failed the next one waits, twice as long each time. */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** At the most so long after a turn, as long as it took, changes wait: what never stops changing takes half the time. */
const maxRestMs = 1_000;
/** When everything is looked through again: where changes are watched, and where they are not; never more than a share of the time. */
const rounds = {
  watched: { leastMs: 15_000, factor: 30 },
  unwatched: { leastMs: 400, factor: 3 },
};

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type Turn = (isDeep: boolean) => Promise<{ readonly isWatched: boolean }>;

/** Says when it is time to look for changes and to send them; one turn at a time. */
export class ChangeClock {
  readonly #now: () => number;
  readonly #turn: Turn;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #firstAt: number | null = null;
  #restUntil = -Infinity;
  #deepAt = Infinity;
  #retryMs = 0;
  #waiters: Waiter[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(monotonicMs: () => number, turn: Turn) {
    this.#now = monotonicMs;
    this.#turn = turn;
  }

  /** Changes that came before are due. */
  start({ isWatched }: { readonly isWatched: boolean }): void {
    this.#planRound(isWatched, 0);
    this.#plan(this.#firstAt === null ? this.#deepAt : this.#now());
  }

  /** Something has changed. */
  wake(): void {
    const now = this.#now();
    this.#firstAt ??= now;
    if (this.#deepAt === Infinity || this.#running !== null) return;
    this.#dueAt = Infinity;
    this.#plan(Math.min(now + quietMs, this.#firstAt + lateMs));
  }

  /** Resolves with a turn that looks through everything. @throws what the turn throws */
  turn(): Promise<void> {
    if (this.#isClosed) return Promise.reject(closed());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiters.push({ resolve, reject });
    this.#restUntil = -Infinity;
    this.#retryMs = 0;
    if (this.#running === null) this.#plan(this.#now());
    return promise;
  }

  /** Resolves when no turn goes on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (const { reject } of this.#waiters.splice(0)) reject(closed());
  }

  #plan(at: number): void {
    if (this.#isClosed) return;
    this.#dueAt = Math.min(this.#dueAt, at);
    clearTimeout(this.#timer);
    const wait = Math.max(this.#dueAt, this.#restUntil) - this.#now();
    this.#timer = setTimeout(() => this.#begin(), Math.max(0, wait));
  }

  #begin(): void {
    if (this.#running !== null || this.#isClosed) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      if (this.#waiters.length > 0) this.#plan(this.#now());
      else if (this.#firstAt !== null) this.#plan(this.#now() + quietMs);
      else this.#plan(this.#deepAt);
    });
  }

  async #run(): Promise<void> {
    const waiters = this.#waiters.splice(0);
    const startedAt = this.#now();
    const isDeep = waiters.length > 0 || startedAt >= this.#deepAt || this.#retryMs > 0;
    [this.#firstAt, this.#dueAt] = [null, Infinity];
    try {
      const { isWatched } = await this.#turn(isDeep);
      this.#retryMs = 0;
      const tookMs = this.#now() - startedAt;
      this.#restUntil = this.#now() + Math.min(maxRestMs, tookMs);
      if (isDeep) this.#planRound(isWatched, tookMs);
      else if (!isWatched) this.#deepAt = Math.min(this.#deepAt, this.#now() + rounds.unwatched.leastMs);
      for (const { resolve } of waiters) resolve();
    } catch (error) {
      this.#retryMs = Math.min(maxRetryMs, this.#retryMs === 0 ? firstRetryMs : this.#retryMs * 2);
      this.#restUntil = this.#now() + this.#retryMs;
      this.#deepAt = this.#restUntil;
      for (const { reject } of waiters) reject(error);
    }
  }

  #planRound(isWatched: boolean, tookMs: number): void {
    const { leastMs, factor } = isWatched ? rounds.watched : rounds.unwatched;
    this.#deepAt = this.#now() + Math.max(leastMs, tookMs * factor);
  }
}

function closed(): Error {
  return new Error("The copy is closed.");
}

/** Follows what the repository of a project tracks, which may change without a change of the project's own files. */
export class IndexWatch {
  readonly #root: HostFolder;
  readonly #onChange: () => void;
  #tracked: TrackedFolder | null = null;
  #watch: FolderWatch | null = null;
  #isMarked = false;
  #isClosed = false;

  /** The caller keeps ownership of the root; `onChange`: the index was written, perhaps with the same names. */
  constructor(root: HostFolder, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Reads and watches it anew. To be called before the project is looked through, so that no change is missed. */
  async refresh(): Promise<void> {
    const files = await this.#files();
    const found = await files.gitFolder(this.#root, "");
    this.#watch?.close();
    this.#watch = null;
    if (found !== null && typeof found !== "string") {
      await using git = found;
      if (!this.#isClosed) this.#watch = watchFolder(git.folder, (name) => this.#mark(name));
    }
    this.#isMarked = false;
    this.#tracked = await files.below(this.#root, "");
  }

  /** Whether git tracks other files than before. */
  async hasChanged(): Promise<boolean> {
    if (!this.#isMarked) return false;
    this.#isMarked = false;
    const before = this.#tracked;
    this.#tracked = await (await this.#files()).below(this.#root, "");
    return !isSameTracked(before, this.#tracked);
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
  }

  /** What is not known, the look through the project tells. */
  #files(): Promise<TrackedFiles> {
    return TrackedFiles.of(this.#root, () => undefined);
  }

  #mark(name: string | null): void {
    if (name !== null && name !== "index") return;
    this.#isMarked = true;
    this.#onChange();
  }
}

/** What keeps a copy from being what the project is. */
export interface CopyProblem {
  /**
   * `left_out`: single files are not copied; `slow`: the system watches no more folders, so that they are looked through
   * instead, which may take longer than a second; `delayed`: changes did not go in and are tried again; `stopped`: nothing
   * follows any more, and what is in the sandbox stays.
   */
  readonly kind: "left_out" | "slow" | "delayed" | "stopped";
  /** One sentence. */
  readonly message: string;
}

export interface LiveCopyOptions extends ProjectSource, Pick<Kit, "monotonicMs" | "platform"> {
  readonly files: Pick<SandboxFiles, "writeTree" | "update">;
  /** Absolute path of the copy inside. Beside it there is room for what is on its way. */
  readonly target: string;
  /** Told once the copy is open, and not of the same again and again. */
  readonly onProblem: (problem: CopyProblem) => void;
  /** Ends the copy as `close` does. */
  readonly signal: AbortSignal;
}

/** Entries of one batch, each of which a program inside puts into its place. */
const maxBatch = 2_000;
/** So many changes at once, and the system may have left some out. */
const manyChanges = 2_000;

/**
 * A copy of a project in a sandbox that follows the project: a change on this machine is inside within a second, as one
 * change of each file. Nothing is ever written back. What the sandbox's programs change stays, until the same file changes
 * here. Where the copy cannot follow, `onProblem` says so.
 */
export class LiveCopy implements AsyncDisposable {
  readonly #options: LiveCopyOptions;
  readonly #root: HostFolder;
  readonly #look: ProjectLook;
  /** Null: it does not matter what git tracks. */
  readonly #index: IndexWatch | null;
  readonly #changes = new PendingChanges();
  readonly #leftOut = new LeftOut();
  readonly #clock: ChangeClock;
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  #marked = new Map<KnownFolder, Set<string> | null>();
  #marks = 0;
  #lastProblem: CopyProblem | null = null;
  #warnings: readonly string[] = [];
  #closing: Promise<void> | undefined;

  /**
   * Copies the project; resolves when all of it is inside, to a copy that follows from then on.
   * @throws POLICY_DENIED for more than fits, CANCELLED, what `SandboxFiles.writeTree` and opening the folder throw
   */
  static async open(options: LiveCopyOptions): Promise<LiveCopy> {
    const root = await HostFolder.of(options.project, options.platform);
    const copy = new LiveCopy(options, root);
    try {
      await copy.#begin();
      return copy;
    } catch (error) {
      await copy.close();
      throw options.signal.aborted ? cancelled(error) : error;
    }
  }

  private constructor(options: LiveCopyOptions, root: HostFolder) {
    const { maxBytes, includeIgnored, monotonicMs, signal } = options;
    this.#options = options;
    this.#root = root;
    this.#signal = AbortSignal.any([signal, this.#ended.signal]);
    this.#index = includeIgnored ? null : new IndexWatch(root, () => this.#clock.wake());
    this.#look = new ProjectLook({
      root,
      filter: includeIgnored ? undefined : ignoringFilter(this.#leftOut.notes),
      size: new TreeSize({ maxBytes, maxEntries }),
      changes: this.#changes,
      leftOut: this.#leftOut,
      onChange: (folder, name) => this.#mark(folder, name),
      signal: this.#signal,
    });
    this.#clock = new ChangeClock(monotonicMs, (isDeep) => this.#follow(isDeep));
  }

  /** What was left out when it was opened, one sentence for each reason. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Resolves when what the project holds now is inside. @throws what keeps it from that */
  settled(): Promise<void> {
    return this.#clock.turn();
  }

  /** Resolves when nothing of it goes on. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#ended.abort();
    await this.#clock.close();
    this.#look.close();
    this.#index?.close();
    await this.#root[Symbol.asyncDispose]();
  }

  async #begin(): Promise<void> {
    const { files, target, signal } = this.#options;
    await this.#lookAtAll();
    const { put, done } = this.#changes.take(Infinity);
    await files.writeTree(target, readChanges(this.#root, put, this.#leftOut), { signal: this.#signal });
    done();
    this.#warnings = [...this.#leftOut.take(), ...(this.#look.isWatched ? [] : [slow])];
    signal.addEventListener("abort", () => void this.close(), { once: true, signal: this.#ended.signal });
    this.#clock.start({ isWatched: this.#look.isWatched });
  }

  #mark(folder: KnownFolder, name: string | null): void {
    this.#marks += 1;
    const names = this.#marked.get(folder);
    if (name === null) this.#marked.set(folder, null);
    else if (names === undefined) this.#marked.set(folder, new Set([name]));
    else names?.add(name);
    this.#clock.wake();
  }

  /** One turn: what has changed is looked at, then sent. */
  async #follow(isDeep: boolean): Promise<{ readonly isWatched: boolean }> {
    try {
      const marked = this.#marked;
      const isMuch = this.#marks > manyChanges;
      this.#marked = new Map();
      this.#marks = 0;
      if (isDeep || isMuch || (await this.#index?.hasChanged()) === true) await this.#lookAtAll();
      else await this.#look.lookAt(marked);
      while (!this.#changes.isEmpty) await this.#send();
      if (this.#lastProblem?.kind === "delayed") this.#lastProblem = null;
      const sentences = this.#leftOut.take();
      if (sentences.length > 0) this.#tell("left_out", sentences.join(" "));
      else if (!this.#look.isWatched) this.#tell("slow", slow);
      return { isWatched: this.#look.isWatched };
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  async #lookAtAll(): Promise<void> {
    await this.#index?.refresh();
    await this.#look.lookAtAll();
  }

  async #send(): Promise<void> {
    const { files, target } = this.#options;
    const { put, gone, goneFolders, done } = this.#changes.take(maxBatch);
    const entries = readChanges(this.#root, put, this.#leftOut);
    await files.update(target, { entries, gone, goneFolders }, { signal: this.#signal });
    done();
  }

  #fail(error: unknown): void {
    if (this.#signal.aborted) return;
    const { message } = error as Error;
    if (!isFinal(error))
      return this.#tell("delayed", `Changes do not reach the sandbox, and are tried again: ${message}`);
    this.#tell("stopped", `The sandbox's copy follows the project no longer: ${message}`);
    void this.close();
  }

  #tell(kind: CopyProblem["kind"], message: string): void {
    if (this.#signal.aborted || message === this.#lastProblem?.message) return;
    this.#lastProblem = { kind, message };
    this.#options.onProblem(this.#lastProblem);
  }
}

const slow =
  "This machine watches no more folders (fs.inotify.max_user_watches), so changes may take longer than a second to follow.";

/** Whether trying again cannot help: the sandbox is lost, or the project is larger than it may be. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof GloveboxError)) return false;
  return isSandboxLoss(error) || error.context?.["field"] === "limits.disk_mb";
}
