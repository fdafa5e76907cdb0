import type {
  CallOperation,
  OperationCall,
  OperationContract,
  RequestOf,
  ResponseOf,
} from "../operations/contract/operation-contract.ts";
import {
  packFilesContract,
  unpackFilesContract,
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
} from "../operations/live-sandbox-contract.ts";
import type { Caller } from "../library/objects/calls.ts";
import { archiveOfTop } from "../sandbox/copy/archive.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { withHostSource } from "../sandbox/copy/copy-in.ts";
import { copyOut, type InsideFilesToRead } from "../sandbox/copy/copy-out.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { TreeEntry } from "../sandbox/files/file-way.ts";
import { MoveBounds, treeLimits } from "../sandbox/files/move-bounds.ts";
import { boundArchive, decodeTar } from "../sandbox/files/tree-archive.ts";

/** This machine, as copies need it. */
export interface OwnMachine {
  readonly platform: NodeJS.Platform;
  /** Base of relative paths. */
  readonly workingDirectory: string;
}

type CopyIn = RequestOf<typeof copyIntoSandboxContract>;
type CopyOut = RequestOf<typeof copyOutOfSandboxContract>;
type Copied = ResponseOf<typeof copyIntoSandboxContract>;

/**
 * The calls of a server, plus copies between its sandboxes and this machine, which the server itself cannot do: this
 * machine's half is done here, and does not trust the other half.
 */
export function withCopies(caller: Caller, machine: OwnMachine): Caller {
  const call = async (contract: OperationContract, request: object, how: OperationCall): Promise<unknown> => {
    if (contract === copyIntoSandboxContract) return copyIntoServer(caller.call, machine, request as CopyIn, how);
    if (contract === copyOutOfSandboxContract) return copyOutOfServer(caller.call, machine, request as CopyOut, how);
    return caller.call(contract, request as never, how);
  };
  return { ...caller, call: call as Caller["call"] };
}

/**
 * Copies a file or folder of this machine into a sandbox, through its owner's calls. @throws as `copyIn`, and what the
 * calls throw
 */
export async function copyIntoServer(
  ask: CallOperation,
  machine: OwnMachine,
  request: CopyIn,
  how: OperationCall,
): Promise<Copied> {
  const { source, sandbox_id, target, max_bytes: maxBytes, max_entries: maxEntries } = request;
  const budget = new CopyBudget({ maxBytes, maxEntries });
  return withHostSource({ ...machine, source, budget }, async (top) => {
    const { name, isContentOnly: content_only } = top;
    const limits = { max_bytes: maxBytes, max_entries: maxEntries };
    const failed = Promise.withResolvers<never>();
    const stdin = failing(archiveOfTop(top), failed.reject);
    const wanted = { sandbox_id, target, name, content_only, ...limits };
    const placed = ask(unpackFilesContract, wanted, { ...how, stdin });
    // If reading fails here, that is the reason, whatever the server reports about the truncated archive.
    const { warnings } = await Promise.race([failed.promise, placed]);
    return { sandbox_id, entries: budget.entries, bytes: budget.bytes, warnings: [...budget.warnings, ...warnings] };
  });
}

/** Copies a file or folder of such a sandbox to this machine. @throws as `copyOut`, and what the calls throw */
export async function copyOutOfServer(
  ask: CallOperation,
  machine: OwnMachine,
  request: CopyOut,
  how: OperationCall,
): Promise<Copied> {
  const { sandbox_id, source, target, max_bytes, max_entries } = request;
  const budget = new CopyBudget({ maxBytes: max_bytes, maxEntries: max_entries });
  const wanted = { sandbox_id, source, max_bytes, max_entries };
  await using files = new ArchiveInside((more) => ask(packFilesContract, wanted, { ...how, ...more }), how.signal);
  await copyOut({ ...machine, files, source, target, budget }, { signal: how.signal });
  const { warnings } = await files.answer;
  return { sandbox_id, entries: budget.entries, bytes: budget.bytes, warnings: [...warnings, ...budget.warnings] };
}

/** The same pieces; the reason for a premature end is reported separately. */
async function* failing(
  pieces: AsyncIterable<Uint8Array>,
  onFailed: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* pieces;
  } catch (error) {
    onFailed(error);
    throw error;
  }
}

type Packed = ResponseOf<typeof packFilesContract>;
type Pack = (call: Pick<OperationCall, "signal" | "onEvent">) => Promise<Packed>;

/** The files of a sandbox that a server sends as one archive, read once and at the reader's pace. */
class ArchiveInside implements InsideFilesToRead, AsyncDisposable {
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
