import { errorCode } from "../../errors/error-code.ts";
import { assertRunsAnyProgram, type Capabilities } from "../../engines/capabilities.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry } from "./file-facts.ts";
import { FileProcess, type FileContainer } from "./file-process.ts";
import {
  listScript,
  packScript,
  readScript,
  readTreeScript,
  unpackScript,
  writeScript,
  writeTreeScript,
} from "./file-scripts.ts";
import { findInside, readBatchInside } from "./batch-inside.ts";
import type {
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  ListRequest,
  PackRequest,
  ReadRequest,
  WriteOptions,
} from "./file-way.ts";
import { insidePath } from "./inside-path.ts";
import { parseListing } from "./parse-listing.ts";
import { boundArchive } from "./tar/bound-archive.ts";
import { namesNotUtf8 } from "./file-error.ts";
import { MoveBounds, treeLimits, type MoveLimits } from "./move-bounds.ts";
import { decodeTar } from "./tar/tar-decoder.ts";
import { encodeTar } from "./tar/tar-stream.ts";
import { updateTree, type TreeChanges } from "./update/tree-changes.ts";
import { placeScript, removeScript, updateScript } from "./update/update-scripts.ts";

/** Bytes reserved per entry of a listing: most names are far shorter than the longest path. */
const entryBytes = 512;
/** What a script prints when it is ready for content. */
const ready = /^ready$/;

/**
 * Files moved by small programs inside the sandbox that run as its programs' user: no link leads out, and what a program
 * may not read or write they cannot. All throw what `SandboxFiles` and `AnswerStream` throw.
 */
export class InsideFiles implements FileWay {
  readonly #container: FileContainer;
  readonly #capabilities: Pick<Capabilities, "programs" | "isolation">;

  constructor(container: FileContainer, capabilities: Pick<Capabilities, "programs" | "isolation">) {
    this.#container = container;
    this.#capabilities = capabilities;
  }

  async list(path: string, { depth, maxEntries, signal }: ListRequest): Promise<FileListing> {
    const maxBytes = maxEntries * entryBytes;
    const process = await this.#start(listScript, [path, String(depth), String(maxBytes)], signal);
    const chunks: Uint8Array[] = [];
    await orGiveUp(process, async () => {
      for await (const chunk of process.content(maxBytes)) chunks.push(chunk);
      await process.end();
    });
    try {
      return parseListing(Buffer.concat(chunks), maxEntries);
    } catch (error) {
      return process.refuse((error as RangeError).message);
    }
  }

  /** Follows links. */
  async read(path: string, { offsetBytes, maxBytes, signal }: ReadRequest): Promise<FileContent> {
    const process = await this.#start(readScript, [path, String(offsetBytes), String(maxBytes)], signal);
    const sizeBytes = Number(await orGiveUp(process, () => process.line(/^\d{1,15}$/)));
    const rest = Math.max(sizeBytes - offsetBytes, 0);
    return { sizeBytes, chunks: contentOf(process, maxBytes < 0 ? rest : Math.min(rest, maxBytes)) };
  }

  findFiles(folder: string, options: CallOptions): Promise<readonly Uint8Array[]> {
    return findInside(this.#container, insidePath(folder), options);
  }

  readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]> {
    return readBatchInside(this.#container, insidePath(folder), request);
  }

  async write(path: string, { sizeBytes, chunks }: SizedContent, { mode, signal }: WriteOptions): Promise<void> {
    const parameters = [path, String(sizeBytes), mode === undefined ? "" : mode.toString(8)] as const;
    const process = await this.#start(writeScript, parameters, signal);
    await orGiveUp(process, async () => {
      await process.line(ready);
      await process.feed(chunks);
    });
  }

  async *readTree(path: string, { signal }: CallOptions): AsyncGenerator<TreeEntry, void, undefined> {
    const process = await this.#start(readTreeScript, [path], signal);
    yield* archiveOf(process, path, { limits: treeLimits, signal, read: decodeTar });
  }

  async *pack(folder: string, { maxBytes, signal }: PackRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const process = await this.#start(packScript, [folder], signal);
    const limits = { ...treeLimits, maxBytes };
    yield* archiveOf(process, folder, { limits, signal, isWhole: true, read: (archive) => archive });
  }

  async unpack(folder: string, archive: AsyncIterable<Uint8Array>, { signal }: CallOptions): Promise<void> {
    const bounds = new MoveBounds(folder, treeLimits, { signal });
    const process = await this.#start(unpackScript, [folder], signal);
    await orGiveUp(process, async () => {
      await process.line(ready);
      await process.feed(afterLine(archive, bounds));
    });
  }

  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    { signal }: CallOptions,
  ): Promise<void> {
    const process = await this.#start(writeTreeScript, [path], signal);
    await orGiveUp(process, async () => {
      await process.line(ready);
      await process.feed(encodeTar(entries));
    });
  }

  async update(folder: string, changes: TreeChanges, { signal }: CallOptions): Promise<void> {
    const process = await this.#start(updateScript, [folder, placeScript, removeScript], signal);
    await orGiveUp(process, async () => {
      await process.line(ready);
      await process.feed(encodeTar(updateTree(changes)), { isWhole: true });
    });
  }

  #start(
    script: string,
    [path, ...others]: readonly [path: string, ...others: string[]],
    signal: AbortSignal | undefined,
  ): Promise<FileProcess> {
    assertRunsAnyProgram(this.#capabilities, "that would move files");
    return FileProcess.start(this.#container, script, [insidePath(path), ...others], { signal });
  }
}

/** Aborts the process if the work with it fails. */
async function orGiveUp<T>(process: FileProcess, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await process.giveUp();
    throw error;
  }
}

async function* contentOf(process: FileProcess, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let isComplete = false;
  try {
    yield* process.content(maxBytes);
    await process.end();
    isComplete = true;
  } finally {
    if (!isComplete) await process.giveUp();
  }
}

interface ArchiveReading<T> extends CallOptions {
  readonly limits: MoveLimits;
  /** Whether nothing may be missing, for any reason; default: entries that changed or disappeared meanwhile may be. */
  readonly isWhole?: boolean;
  readonly read: (archive: AsyncGenerator<Uint8Array, void, undefined>) => AsyncGenerator<T, void, undefined>;
}

/** What is read of the archive that a process prints, which is within its limits. */
async function* archiveOf<T>(
  process: FileProcess,
  path: string,
  { limits, signal, isWhole = false, read }: ArchiveReading<T>,
): AsyncGenerator<T, void, undefined> {
  let isComplete = false;
  try {
    yield* read(boundArchive(process.content(Infinity), new MoveBounds(path, limits, { signal })));
    await process.end({ isWhole });
    isComplete = true;
  } catch (error) {
    if (errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") throw namesNotUtf8(path);
    if (!(error instanceof RangeError)) throw error;
    // The archive was cut off, or never started: tar's message is the reason.
    await process.end({ isWhole });
    await process.refuse(error.message);
  } finally {
    if (!isComplete) await process.giveUp();
  }
}

/** The archive after an empty line; nothing for an empty one. */
async function* afterLine(
  archive: AsyncIterable<Uint8Array>,
  bounds: MoveBounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  let begun = false;
  for await (const chunk of archive) {
    bounds.pass(chunk.length);
    if (!begun) yield Buffer.from("\n");
    begun = true;
    yield chunk;
  }
}
