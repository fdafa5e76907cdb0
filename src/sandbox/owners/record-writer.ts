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

/**
 * Keeps the record of one sandbox, which tells others the way to its owner, one write after the other. Without a writable
 * home folder programs still run; the hard end on every object then does the lease's work.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  readonly record: LiveRecord;
  readonly #written: Promise<void>;

  constructor(record: LiveRecord, options: RecordWriterOptions) {
    this.#options = options;
    this.record = record;
    this.#written = this.#write();
  }

  async remove(): Promise<void> {
    await this.#written;
    await this.#bestEffort("record", () => this.#options.records.delete(this.record.id));
  }

  async #write(): Promise<void> {
    let peerAddress: string | null = null;
    await this.#bestEffort("peer server", async () => void (peerAddress = await this.#options.peerServer.open()));
    await this.#bestEffort("record", () => this.#options.records.add({ ...this.record, peerAddress }));
  }

  async #bestEffort(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.warn({ sandbox: this.record.id, err: error }, `the ${what} could not be made`);
    }
  }
}
