import { setTimeout as sleep } from "node:timers/promises";
import { formatBytes } from "../../base/bytes.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { GrowthWatch } from "../../sandbox/growth-watch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { readRoom, reserveOf, type DiskScratch, type ScratchFolder, type Room } from "../../sandbox/disk-scratch.ts";
import { watchDisk, type DiskExcess } from "./watch-disk.ts";
import type { Kit } from "../../base/kit.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Limits } from "../../policy/limits.ts";

export interface WatchedScratchOptions extends Pick<Kit, "logger" | "now" | "platform" | "executable"> {
  readonly diskScratch: Pick<DiskScratch, "make">;
  /** Further folders beside the working and the temporary one; default: none. */
  readonly folders?: readonly string[] | undefined;
  /** Of all that is written there. */
  readonly diskBytes: number;
  /** Default: of the file system of a folder. */
  readonly readRoom?: ((folder: string) => Promise<Room>) | undefined;
}

/** Files, folders and links: those of a project's copy, and as many more (SPEC LI1). */
const maxFiles = 200_000;

/** Files that were removed while they are open are in no folder that could be measured: the free space is watched too. */
const roomEveryMs = 250;

/** Scratch of one sandbox on this machine's disk, and the watch that keeps it within its limit (SPEC RT6). */
export class WatchedScratch implements AsyncDisposable {
  readonly #options: WatchedScratchOptions;
  readonly #scratch: ScratchFolder;
  readonly #growth: GrowthWatch;
  readonly #ended = new AbortController();
  #error: GloveboxError | null = null;

  /** Null where the disk has no room for as much as may be written. @throws what `DiskScratch.make` throws */
  static async open(options: WatchedScratchOptions): Promise<WatchedScratch | null> {
    const scratch = await options.diskScratch.make(options.folders);
    const { folder } = scratch;
    const room = await (options.readRoom ?? readRoom)(folder);
    if (room.freeBytes < reserveOf(room) + options.diskBytes) {
      await scratch[Symbol.asyncDispose]();
      return null;
    }
    const growth = new GrowthWatch({
      ...options,
      place: { stablePath: folder, realPath: folder },
      limits: { bytes: options.diskBytes, files: maxFiles },
      startsEmpty: true,
    });
    await growth.note(false);
    return new WatchedScratch(options, scratch, growth);
  }

  private constructor(options: WatchedScratchOptions, scratch: ScratchFolder, growth: GrowthWatch) {
    this.#options = options;
    this.#scratch = scratch;
    this.#growth = growth;
  }

  /** For the sandbox's plan. */
  get mounts(): readonly MountSpec[] {
    return this.#scratch.mounts;
  }

  /** Why the sandbox was ended; null when it was not, for its files. */
  get error(): GloveboxError | null {
    return this.#error;
  }

  /** From now on the sandbox is removed when it has written more than it may. */
  watch(sandbox: Pick<Sandbox, "id" | "remove" | "writtenBytes" | "writtenFolder">): void {
    const { diskBytes, logger } = this.#options;
    void watchDisk({
      sandbox,
      limitBytes: diskBytes,
      growth: this.#growth,
      // Its root is read-only.
      watchRoot: () => this.#growth,
      isBusy: () => true,
      logger,
      signal: this.#ended.signal,
      onExceeded: (excess) => this.#end(sandbox, tooMuch(excess)),
    });
    void this.#watchRoom(sandbox);
  }

  async #watchRoom(sandbox: Pick<Sandbox, "id" | "remove">): Promise<void> {
    const { signal } = this.#ended;
    const read = this.#options.readRoom ?? readRoom;
    while (!signal.aborted) {
      const room = await read(this.#scratch.folder).catch(() => null);
      if (room !== null && room.freeBytes < reserveOf(room)) return this.#end(sandbox, diskIsFull(room));
      await sleep(roomEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #end(sandbox: Pick<Sandbox, "id" | "remove">, error: GloveboxError): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#error = error;
    this.#options.logger.warn({ sandbox: sandbox.id, reason: error.message }, "sandbox ended for its files");
    sandbox.remove().catch(() => {
      // Already in the log; the sandbox counts as removed, and a sweep tries again.
    });
  }

  /** Removes the files; called when the sandbox is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    try {
      await this.#scratch[Symbol.asyncDispose]();
    } catch (error) {
      // What cannot be removed now is removed when this server ends.
      this.#options.logger.warn({ err: error }, "scratch was not removed");
    }
  }
}

/** The scratch that a run or a session will have. */
export interface ScratchDemand {
  readonly limits: Limits;
  /** Whether its size was requested by name, in the request or the configuration. */
  readonly isDiskNamed: boolean;
  /** Further folders that share it with the working and the temporary folder; default: none. */
  readonly folders?: readonly string[] | undefined;
}

/**
 * Scratch on this machine's disk where more is asked for by name than memory has room for (SPEC LI1). Null where the
 * engine's own is large enough or no other can be had: then the result says how large it is.
 */
export type OpenLargeScratch = (demand: ScratchDemand, capabilities: Capabilities) => Promise<WatchedScratch | null>;

interface LargeScratchParts extends Omit<WatchedScratchOptions, "diskBytes" | "folders"> {
  readonly diskScratch: Pick<DiskScratch, "make" | "serves">;
}

export function openLargeScratch(parts: LargeScratchParts): OpenLargeScratch {
  return async ({ limits, isDiskNamed, folders }, capabilities) => {
    const { diskBytes, memoryBytes } = limits;
    if (!isDiskNamed || diskBytes <= memoryBytes / 2 || !parts.diskScratch.serves(capabilities)) return null;
    return WatchedScratch.open({ ...parts, diskBytes, folders });
  };
}

function diskIsFull(room: Room): GloveboxError {
  const left = `${formatBytes(room.freeBytes)} of this machine's disk are free`;
  return new GloveboxError(
    "SANDBOX_LOST",
    `The sandbox was ended: ${left}, less than the ${formatBytes(Math.round(reserveOf(room)))} that stay free.`,
    {
      suggestion: "Free space on the disk of Glovebox's state folder, and look whether the program fills it.",
      context: { reason: "disk_full", retryable: false },
    },
  );
}

function tooMuch({ what, value, limit }: DiskExcess): GloveboxError {
  const [taken, most] = what === "bytes" ? [formatBytes(value), formatBytes(limit)] : [`${value} files`, `${limit}`];
  return new GloveboxError(
    "SANDBOX_LOST",
    `The sandbox was ended: it took ${taken} of disk, more than its limit of ${most}.`,
    {
      suggestion:
        what === "bytes" ? "Write less, or start it with a larger limits.disk_mb." : "Make fewer files and folders.",
      context: { field: "limits.disk_mb", retryable: false },
    },
  );
}
