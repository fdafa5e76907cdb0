import type { AlertSink } from "../../base/alert-sink.ts";
import type { Engine } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { formatBytes } from "../../base/bytes.ts";
import { GrowthWatch, type Grown } from "../../sandbox/growth-watch.ts";
import { assertNotNested, isNested } from "../../sandbox/mounts/assert-not-nested.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { SetuidWatch, type ClearedFiles } from "../../sandbox/setuid-watch.ts";
import { watchDisk, type DiskExcess } from "./watch-disk.ts";
import type { FolderWords, HostMount } from "./host-mount.ts";
import type { Kit } from "../../base/kit.ts";

/** Files and folders that such folders may grow by in one run where nothing else is said (SPEC LI1). */
const defaultMaxFiles = 100_000;

export interface GuardedFolders extends Kit {
  readonly words: FolderWords;
  readonly mounts: readonly HostMount[];
  /** By which they may grow together. */
  readonly diskBytes: number;
  /** Files and folders that may be added in all of them together; default 100,000. */
  readonly maxFiles?: number | undefined;
  readonly setuidAlerts: AlertSink<ClearedFiles>;
}

/** Folders of this machine that the program of a sandbox writes to, and what becomes of its sandbox for them. */
export class FolderGuard implements AsyncDisposable {
  readonly #folders: GuardedFolders;
  readonly #writable: readonly HostMount[];
  readonly #growth: readonly GrowthWatch[];
  readonly #maxFiles: number;
  readonly #ended = new AbortController();
  #setuid: readonly SetuidWatch[] = [];
  #sandbox: Sandbox | null = null;
  #error: GloveboxError | null = null;

  /** Notes how large they are: what is already there does not count. */
  static async open(folders: GuardedFolders): Promise<FolderGuard> {
    const guard = new FolderGuard(folders);
    for (const growth of guard.#growth) await growth.note(false);
    return guard;
  }

  private constructor(folders: GuardedFolders) {
    this.#folders = folders;
    const maxFiles = (this.#maxFiles = folders.maxFiles ?? defaultMaxFiles);
    this.#writable = folders.mounts.filter(({ readOnly }) => !readOnly);
    const { diskBytes: bytes, platform, executable, now } = folders;
    const paths = this.#writable.map(({ place }) => place.realPath);
    // A folder inside another one is measured with that one.
    const outer = this.#writable.filter(
      ({ place }, index) => paths.indexOf(place.realPath) === index && !isNested(place.realPath, paths),
    );
    this.#growth = outer.map(
      ({ place }) => new GrowthWatch({ place, limits: { bytes, files: maxFiles }, platform, executable, now }),
    );
  }

  /** Why the sandbox was ended; null when it was not because of its folders. */
  get error(): GloveboxError | null {
    return this.#error;
  }

  /** Files whose setuid bit has been removed so far. */
  get setuidCount(): number {
    return this.#setuid.reduce((sum, { count }) => sum + count, 0);
  }

  /**
   * Watches what the sandbox does to them from now on. What was mounted is what was checked: the engine has compared them, or
   * nobody can have exchanged them.
   * @throws POLICY_DENIED
   */
  async begin(sandbox: Sandbox, at: { readonly engine: Engine; readonly sandboxes: Sandboxes }): Promise<void> {
    this.#sandbox = sandbox;
    if (!sandbox.mountsVerified) {
      for (const { place, shownAs } of this.#folders.mounts) {
        if (!(await place.isStillThere())) throw wasReplaced(shownAs, this.#folders.words);
        const { signal } = this.#ended;
        await assertNotNested({ ...at, source: place.realPath, except: sandbox.id, signal });
      }
    }
    if (sandbox.capabilities.setuidRefusal !== "yes") {
      this.#setuid = this.#writable.map((mount) => this.#watchSetuid(mount, sandbox));
    }
    void watchDisk({
      sandbox,
      limitBytes: this.#folders.diskBytes,
      growth: {
        limits: { bytes: this.#folders.diskBytes, files: this.#maxFiles },
        look: (...asked) => this.#look(...asked),
      },
      watchRoot: () => {
        throw new TypeError("Its root is read-only.");
      },
      isBusy: () => true,
      logger: this.#folders.logger,
      signal: this.#ended.signal,
      onExceeded: (excess) => this.#end(tooMuch(excess, this.#folders.words), "folders passed their limit"),
    });
  }

  async #look(...asked: Parameters<GrowthWatch["look"]>): Promise<Grown> {
    const all = { bytes: 0, files: 0, grows: false };
    for (const growth of this.#growth) {
      const { bytes, files, grows } = await growth.look(...asked);
      all.bytes += bytes;
      all.files += files;
      all.grows ||= grows;
    }
    return all;
  }

  #watchSetuid({ place, shownAs }: HostMount, { id }: Sandbox): SetuidWatch {
    return new SetuidWatch({
      place,
      isBusy: () => true,
      monotonicMs: this.#folders.monotonicMs,
      onCleared: (files) => this.#folders.setuidAlerts.happened(id, files),
      onFailed: (reason) => {
        this.#folders.logger.error(
          { sandbox: id, err: reason },
          "setuid bits in a folder of this machine cannot be cleared",
        );
        this.#end(
          new GloveboxError("SANDBOX_LOST", `The sandbox was ended: setuid files in ${shownAs} could not be cleared.`),
          "setuid bits cannot be cleared",
        );
      },
    });
  }

  #end(ending: GloveboxError, why: string): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#error = ending;
    this.#folders.logger.warn(
      { sandbox: this.#sandbox?.id, reason: ending.message },
      `${this.#folders.words.subject} ended: ${why}`,
    );
    this.#sandbox?.remove().catch(() => {
      // Already in the log; the sandbox counts as removed, and a sweep tries again.
    });
  }

  /** Called when the sandbox is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    for (const watch of this.#setuid) await watch.close();
    if (this.#sandbox !== null) this.#folders.setuidAlerts.ended(this.#sandbox.id);
  }
}

function wasReplaced(shownAs: string, { subject }: FolderWords): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `${shownAs}: It was moved or replaced after it had been checked.`, {
    suggestion: `Leave the folder in its place, and run the ${subject} again.`,
    context: { folder: shownAs, rule: "changed" },
  });
}

function tooMuch({ what, value, limit }: DiskExcess, { subject, folders }: FolderWords): GloveboxError {
  const [grown, most] = what === "bytes" ? [formatBytes(value), formatBytes(limit)] : [`${value} files`, `${limit}`];
  return new GloveboxError(
    "SANDBOX_LOST",
    `The ${subject} was ended: ${folders} grew by ${grown}, more than the limit of ${most}.`,
    {
      suggestion:
        what === "bytes"
          ? "Look at what it wrote there, or raise limits.disk_mb."
          : "Look at what it wrote there; it makes fewer files with fewer dependencies.",
      context: { field: "limits.disk_mb", retryable: false },
    },
  );
}
