import { cancelled } from "../../../base/abort.ts";
import { GloveboxError, isSandboxLoss } from "../../../errors/glovebox-error.ts";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";
import { maxEntries, type ProjectSource } from "../copy-project.ts";
import { ignoringFilter } from "../project-tree.ts";
import { ChangeClock } from "./change-clock.ts";
import { IndexWatch } from "./index-watch.ts";
import { TreeSize, type KnownFolder } from "./known-tree.ts";
import { LeftOut } from "./left-out.ts";
import { ProjectLook } from "./look-at-project.ts";
import { PendingChanges } from "./pending-changes.ts";
import { readChanges } from "./read-changes.ts";

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

export interface LiveCopyOptions extends ProjectSource {
  readonly files: Pick<SandboxFiles, "writeTree" | "update">;
  /** Absolute path of the copy inside. Beside it there is room for what is on its way. */
  readonly target: string;
  readonly platform: NodeJS.Platform;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
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
