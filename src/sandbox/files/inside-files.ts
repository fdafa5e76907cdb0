import { errorCode } from "../../errors/error-code.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { assertRunsAnyProgram, type Capabilities } from "../../engines/capabilities.ts";
import type { CallOptions, Container } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry } from "./file-facts.ts";
import { FileProcess } from "./file-process.ts";
import { listScript, readScript, readTreeScript, writeScript, writeTreeScript } from "./file-scripts.ts";
import { findInside, readBatchInside } from "./batch-inside.ts";
import type {
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  ListRequest,
  ReadRequest,
  WriteOptions,
} from "./file-way.ts";
import { insidePath } from "./inside-path.ts";
import { parseListing } from "./parse-listing.ts";
import { decodeTar } from "./tar-decoder.ts";
import { encodeTar } from "./tar-stream.ts";

/** Room for an entry of a listing: most names are far shorter than a path may be. */
const entryBytes = 512;
/** What a script says when it takes content. */
const ready = /^ready$/;

/**
 * Files moved by small programs inside the sandbox that run as its programs' user: no link leads out, and what a program
 * may not read or write they cannot. All throw what `SandboxFiles` and `AnswerStream` throw.
 */
export class InsideFiles implements FileWay {
  readonly #container: Pick<Container, "exec">;
  readonly #capabilities: Pick<Capabilities, "programs" | "isolation">;

  constructor(container: Pick<Container, "exec">, capabilities: Pick<Capabilities, "programs" | "isolation">) {
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

  /** Through links. */
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
    let isComplete = false;
    try {
      yield* decodeTar(process.content(Infinity));
      await process.end();
      isComplete = true;
    } catch (error) {
      if (errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") throw notUtf8(path);
      if (!(error instanceof RangeError)) throw error;
      // The archive was cut off, or never begun: what tar said is the reason.
      await process.end();
      await process.refuse(error.message);
    } finally {
      if (!isComplete) await process.giveUp();
    }
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

  #start(
    script: string,
    [path, ...others]: readonly [path: string, ...others: string[]],
    signal: AbortSignal | undefined,
  ): Promise<FileProcess> {
    assertRunsAnyProgram(this.#capabilities, "that would move files");
    return FileProcess.start(this.#container, script, [insidePath(path), ...others], { signal });
  }
}

/** Gives the process up when the work with it fails. */
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

function notUtf8(path: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} holds a name that is not UTF-8.`, {
    suggestion: "Rename it inside the sandbox, or copy its neighbours one by one.",
    context: { path },
  });
}
