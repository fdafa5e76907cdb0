import { errorCode } from "../../errors/error-code.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { type Capabilities, assertRunsAnyProgram } from "../../engines/capabilities.ts";
import type { CallOptions, Container } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry } from "./file-facts.ts";
import { FileProcess } from "./file-process.ts";
import { listScript, readScript, readTreeScript, writeScript, writeTreeScript } from "./file-scripts.ts";
import { insidePath } from "./inside-path.ts";
import { parseListing } from "./parse-listing.ts";
import { decodeTar } from "./tar-decoder.ts";
import { encodeTar } from "./tar-stream.ts";

export interface ListOptions extends CallOptions {
  /** Levels of folders below; default 1: the folder's own entries. */
  readonly depth?: number | undefined;
  /** Default 10,000. */
  readonly mostEntries?: number | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Default 0. */
  readonly offsetBytes?: number | undefined;
  /** Default: to its end. */
  readonly mostBytes?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Permissions; default: those of the file that is replaced, else 0o644. */
  readonly mode?: number | undefined;
}

/** A file that is being read. */
export interface FileContent {
  /** Of the whole file when it was opened; a program may shorten it while it is read. */
  readonly sizeBytes: number;
  /** Must be read, or given up by ending the iteration. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

const defaultEntries = 10_000;
/** Room for an entry of a listing: most names are far shorter than a path may be. */
const entryBytes = 512;
/** What a script says when it takes content. */
const ready = /^ready$/;

/**
 * Files of a sandbox, moved by small programs inside it that run as its programs' user: no link leads out, and what a
 * program may not read or write they cannot. Paths are absolute paths inside.
 *
 * All throw NOT_FOUND, PERMISSION_DENIED, INVALID_REQUEST (a folder where a file is meant, a FIFO, a device, a path
 * that is none), UNSUPPORTED where interpreters only run, and what `AnswerStream` throws.
 */
export class SandboxFiles {
  readonly #container: Pick<Container, "exec">;
  readonly #capabilities: Pick<Capabilities, "programs" | "isolation">;

  constructor(container: Pick<Container, "exec">, capabilities: Pick<Capabilities, "programs" | "isolation">) {
    this.#container = container;
    this.#capabilities = capabilities;
  }

  /** What stands in a folder; links are shown, not followed. */
  async list(path: string, options: ListOptions = {}): Promise<FileListing> {
    const { depth = 1, mostEntries = defaultEntries, signal } = options;
    checkWhole("depth", depth, 1);
    checkWhole("most entries", mostEntries, 1);
    const mostBytes = mostEntries * entryBytes;
    const process = await this.#start(listScript, [path, String(depth), String(mostBytes)], signal);
    const chunks: Uint8Array[] = [];
    await orGiveUp(process, async () => {
      for await (const chunk of process.content(mostBytes)) chunks.push(chunk);
      await process.end();
    });
    try {
      return parseListing(Buffer.concat(chunks), mostEntries);
    } catch (error) {
      return process.refuse((error as RangeError).message);
    }
  }

  /** Opens a file, through links. */
  async read(path: string, options: ReadOptions = {}): Promise<FileContent> {
    const { offsetBytes = 0, mostBytes = -1, signal } = options;
    checkWhole("offset", offsetBytes, 0);
    checkWhole("most bytes", mostBytes, -1);
    const process = await this.#start(readScript, [path, String(offsetBytes), String(mostBytes)], signal);
    const sizeBytes = Number(await orGiveUp(process, () => process.line(/^\d{1,15}$/)));
    const rest = Math.max(sizeBytes - offsetBytes, 0);
    return { sizeBytes, chunks: contentOf(process, mostBytes < 0 ? rest : Math.min(rest, mostBytes)) };
  }

  /**
   * Makes or replaces a file; missing folders are made. It takes its place when all of it is there: until then, and when
   * anything fails, what was there stays. @throws POLICY_DENIED when it does not fit, INVALID_REQUEST when the content
   * is not of the size that was told
   */
  async write(path: string, content: Uint8Array | SizedContent, options: WriteOptions = {}): Promise<void> {
    const { mode, signal } = options;
    const { sizeBytes, chunks } = ArrayBuffer.isView(content) ? inOnePiece(content) : content;
    const parameters = [path, String(sizeBytes), mode === undefined ? "" : mode.toString(8)] as const;
    const process = await this.#start(writeScript, parameters, signal);
    await orGiveUp(process, async () => {
      await process.line(ready);
      await process.feed(exactly(path, sizeBytes, chunks));
    });
  }

  /**
   * A file, or a folder with all below it; links as links. How much comes is for the reader to bound, who may give it up.
   * @throws at its end when a part could not be read
   */
  async *readTree(path: string, { signal }: CallOptions = {}): AsyncGenerator<TreeEntry, void, undefined> {
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

  /**
   * Puts entries into a folder, which is made when it is missing. Files that are there are replaced; a failure leaves
   * what was written before it. @throws POLICY_DENIED when it does not fit
   */
  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    { signal }: CallOptions = {},
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

function inOnePiece(content: Uint8Array): SizedContent {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { sizeBytes: content.length, chunks: chunks() };
}

/** The content, which fails when it is of another size than was told; its last piece is held back until that is known. */
async function* exactly(
  path: string,
  sizeBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let count = 0;
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > sizeBytes) break;
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (count === sizeBytes) {
    if (held !== undefined) yield held;
    return;
  }
  throw new GloveboxError("INVALID_REQUEST", `The content of ${JSON.stringify(path)} is not of ${sizeBytes} bytes.`, {
    suggestion: "Do not change the file while it is sent, or send it again.",
    context: { path, size_bytes: sizeBytes },
  });
}

function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new GloveboxError("INVALID_REQUEST", `The ${name} must be a whole number from ${least}; it is ${value}.`);
}

function notUtf8(path: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path)} holds a name that is not UTF-8.`, {
    suggestion: "Rename it inside the sandbox, or copy its neighbours one by one.",
    context: { path },
  });
}
