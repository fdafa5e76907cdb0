import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { ResponseOf } from "../operations/contract/operation-contract.ts";
import type { packFilesContract } from "../operations/sandboxes/copies/archive-contract.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { TreeEntry } from "../sandbox/files/file-facts.ts";
import { MoveBounds, treeLimits } from "../sandbox/files/move-bounds.ts";
import { boundArchive } from "../sandbox/files/tar/bound-archive.ts";
import { decodeTar } from "../sandbox/files/tar/tar-decoder.ts";
import type { InsideFilesToRead } from "../sandbox/copy/tree-out.ts";

type Packed = ResponseOf<typeof packFilesContract>;
type Pack = (call: Pick<OperationCall, "signal" | "onEvent">) => Promise<Packed>;

/** The files of a sandbox that a server sends as one archive, read once and at the reader's pace. */
export class ArchiveInside implements InsideFilesToRead, AsyncDisposable {
  /** The server's answer, after its archive. */
  readonly answer: Promise<Packed>;
  readonly #giveUp = new AbortController();
  readonly #signal: AbortSignal;
  #piece: Uint8Array | null = null;
  #isOver = false;
  #isRead = false;
  #came: PromiseWithResolvers<void> = Promise.withResolvers();
  #taken: PromiseWithResolvers<void> = Promise.withResolvers();

  /** Nothing is written before the first piece is read; `signal` aborts everything. */
  constructor(pack: Pack, signal: AbortSignal | undefined) {
    this.#signal = AbortSignal.any([this.#giveUp.signal, ...(signal === undefined ? [] : [signal])]);
    this.answer = pack({ signal: this.#signal, onEvent: (event) => this.#take(event) }).finally(() => {
      this.#isOver = true;
      this.#came.resolve();
    });
    // The reader gets the error too.
    this.answer.catch(() => undefined);
  }

  async *readTree(path: string): AsyncGenerator<TreeEntry, void, undefined> {
    try {
      yield* decodeTar(boundArchive(this.#pieces(), new MoveBounds(path, treeLimits, { signal: this.#signal })));
    } catch (error) {
      // It was cut off; the server reports why.
      if (error instanceof RangeError) await this.answer;
      throw error instanceof RangeError ? badArchive(error) : error;
    }
    await this.answer;
  }

  /** The server has followed the named link. */
  read(): never {
    throw badArchive(new RangeError("a link that was to be followed"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#giveUp.abort();
    this.#taken.resolve();
    await this.answer.catch(() => undefined);
  }

  async #take(event: Parameters<NonNullable<OperationCall["onEvent"]>>[0]): Promise<void> {
    if (event.type !== "output" || this.#isRead || this.#signal.aborted) return;
    this.#piece = event.bytes;
    this.#taken = Promise.withResolvers();
    this.#came.resolve();
    await this.#taken.promise;
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const piece = this.#piece;
        if (piece !== null) {
          this.#piece = null;
          yield piece;
          this.#taken.resolve();
        } else if (this.#isOver) return;
        else {
          await this.#came.promise;
          this.#came = Promise.withResolvers();
        }
      }
    } finally {
      // The archive's padding is ignored.
      this.#isRead = true;
      this.#taken.resolve();
    }
  }
}

function badArchive(cause: RangeError): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `The server's answer is no archive: ${cause.message}.`, { cause });
}
