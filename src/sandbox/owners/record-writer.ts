import { settlesWithin } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { LiveRecord, SandboxRecords } from "./sandbox-records.ts";

/** Lets other processes of this user in. */
export interface WayIn {
  /** Opens it, once, and resolves to its address. */
  open(): Promise<string>;
}

export interface RecordWriterOptions {
  readonly records: Pick<SandboxRecords, "add" | "delete">;
  /** Opened with the first sandbox. */
  readonly peerServer: WayIn;
  readonly logger: Logger;
}

/** How long a one-shot run lives before other processes are told of it: writing that down would be in a short one's way. */
const oneShotMs = 50;

/**
 * Keeps the record of one sandbox, which tells others the way to its owner, one write after the other. Without a writable
 * home folder programs still run; the hard end on every object then does the lease's work.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  #record: LiveRecord;
  /** What others see; null: nothing yet. */
  #shown: LiveRecord | null = null;
  #peerAddress: string | null = null;
  #isRemoved = false;
  #written: Promise<boolean>;
  readonly #removing = Promise.withResolvers<void>();

  constructor(record: LiveRecord, options: RecordWriterOptions) {
    this.#options = options;
    this.#record = record;
    this.#written = this.#write();
  }

  get record(): LiveRecord {
    return this.#record;
  }

  /** Changes what is said of its work; others see the newest a moment later. */
  setWork(work: string): void {
    if (this.#record.work === work) return;
    this.#record = { ...this.#record, work };
    this.#written = this.#written.then(async (isThere) => {
      if (isThere && !this.#isRemoved && this.#shown !== this.#record) await this.#show();
      return isThere;
    });
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    this.#removing.resolve();
    if (!(await this.#written)) return;
    await this.#bestEffort("record", () => this.#options.records.delete(this.record.id));
  }

  /** Resolves to whether there is anything to remove. */
  async #write(): Promise<boolean> {
    if (this.record.kind === "execute" && (await settlesWithin(this.#removing.promise, oneShotMs))) return false;
    await this.#bestEffort("peer server", async () => void (this.#peerAddress = await this.#options.peerServer.open()));
    await this.#show();
    return true;
  }

  async #show(): Promise<void> {
    const shown = (this.#shown = this.#record);
    const peerAddress = this.#peerAddress;
    await this.#bestEffort("record", () => this.#options.records.add({ ...shown, peerAddress }));
  }

  async #bestEffort(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.warn({ sandbox: this.record.id, err: error }, `the ${what} could not be made`);
    }
  }
}
