import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "../../base/logger.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import { errorCode, GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";

export interface RunLogOptions {
  readonly folder: Pick<OpenPlace, "stablePath" | "owner">;
  /** User id of this process; null if the system has none. */
  readonly uid: number | null;
  readonly group: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Of each stream. */
  readonly maxBytes: number;
  readonly logger: Logger;
}

const maxNames = 100;

/**
 * The log of one run, in its group's folder, which the agent may write to: it is always a new file, so nothing that is
 * already there is written to or followed. It belongs to the folder's owner, who may read and search it. Secrets are
 * removed before writing.
 */
export class RunLog implements AsyncDisposable {
  /** From the folder of all groups. */
  readonly name: string;
  readonly #handle: FileHandle;
  readonly #options: RunLogOptions;
  readonly #left: Record<OutputChunk["stream"], number>;
  #stream: OutputChunk["stream"] | null = null;
  #isBroken = false;

  /** @throws PERMISSION_DENIED if it cannot be created */
  static async open(options: RunLogOptions): Promise<RunLog> {
    const time = new Date(options.startedAtMs).toISOString().replaceAll(/[:.]/g, "-");
    for (let count = 0; ; count += 1) {
      const file = `container-${time}${count === 0 ? "" : `-${count}`}.log`;
      try {
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
        // Opened for appending, so that no hole results if an agent truncates it.
        const handle = await open(path.join(options.folder.stablePath, file), flags | constants.O_APPEND, 0o600);
        const log = new RunLog(handle, `groups/${options.group}/logs/${file}`, options);
        await log.#giveToOwner();
        return log;
      } catch (error) {
        if (errorCode(error) === "EEXIST" && count < maxNames) continue;
        throw new GloveboxError(
          "PERMISSION_DENIED",
          `No log can be written to groups/${options.group}/logs (${errorCode(error)}).`,
          { suggestion: "Look at what lies in that folder, and whether its disk is full.", cause: error },
        );
      }
    }
  }

  private constructor(handle: FileHandle, name: string, options: RunLogOptions) {
    this.#handle = handle;
    this.name = name;
    this.#options = options;
    this.#left = { stdout: options.maxBytes, stderr: options.maxBytes };
  }

  /** Facts about the run, one line each. */
  facts(title: string, lines: Readonly<Record<string, string | number | boolean | null>>): Promise<void> {
    const text = Object.entries(lines).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
    this.#stream = null;
    return this.#write(`\n=== ${title}\n${text.join("")}`);
  }

  /** Output as received; whatever exceeds the stream's limit is left out. */
  async output({ stream, bytes }: OutputChunk): Promise<void> {
    const left = this.#left[stream];
    if (left === 0) return;
    const kept = bytes.length <= left ? bytes : bytes.subarray(0, left);
    this.#left[stream] = left - kept.length;
    if (this.#stream !== stream) await this.#write(`\n=== ${stream}\n`);
    this.#stream = stream;
    await this.#write(kept);
    if (this.#left[stream] === 0) await this.facts(`${stream} is longer, the rest is not here`, {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** Uses the open file, wherever its name leads by now. Only root can change a file's owner. */
  async #giveToOwner(): Promise<void> {
    const { folder, uid, logger } = this.#options;
    if (uid !== 0 || folder.owner.uid === 0) return;
    try {
      await this.#handle.chown(folder.owner.uid, folder.owner.gid);
    } catch (error) {
      // Root in a user namespace, or on a network file system, may lack root's rights.
      logger.warn({ err: error, log: this.name }, "the log of an agent's run is root's alone");
    }
  }

  async #write(what: string | Uint8Array): Promise<void> {
    if (this.#isBroken) return;
    try {
      await this.#handle.appendFile(what);
    } catch (error) {
      // A full disk ends the log, not the run.
      this.#isBroken = true;
      this.#options.logger.warn({ err: error, log: this.name }, "the log of an agent's run is not whole");
    }
  }
}
