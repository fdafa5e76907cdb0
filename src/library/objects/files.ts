import {
  downloadFileContract,
  uploadFileContract,
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
} from "../../operations/files-contract.ts";
import { toBase64 } from "./base64.ts";
import { placeOf, type CallOptions, type PlaceSource } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { EditFileOptions, ReadFileOptions, ReadStreamOptions } from "./generated/options.ts";
import type { EditedFile, FileContent, FileList, WrittenFile } from "./generated/results.ts";

/**
 * Files of a session, an environment or a sandbox; relative paths are below the folder that its programs start in. All
 * throw NOT_FOUND.
 */
export class Files {
  readonly #calls: Calls;
  readonly #place: PlaceSource;

  /** @internal */
  constructor(calls: Calls, place: PlaceSource) {
    this.#calls = calls;
    this.#place = place;
  }

  /** A folder's entries; default: the folder that programs start in. Links are not followed. */
  async list(path?: string, call?: CallOptions): Promise<FileList> {
    return this.#calls.send(listFilesContract, { ...(await placeOf(this.#place, call)), path }, call);
  }

  /**
   * A file, or a part of a large one: at most 10 MiB at a time, as text or base64; `encoding` of the answer says which.
   */
  async read(path: string, options: ReadFileOptions = {}, call?: CallOptions): Promise<FileContent> {
    return this.#calls.send(readFileContract, { ...options, ...(await placeOf(this.#place, call)), path }, call);
  }

  /**
   * A file of any size, or a part of it, as it comes: it is read as fast as it is taken, and no further once the iteration ends.
   * @throws NETWORK_ERROR if it is cut off
   */
  async *readStream(path: string, options: ReadStreamOptions = {}, call: CallOptions = {}): AsyncGenerator<Uint8Array> {
    const giveUp = new AbortController();
    const signals = [giveUp.signal, call.signal].filter((each) => each !== undefined);
    const request = { ...options, ...(await placeOf(this.#place, call)), path };
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const sent = this.#calls
      .send(downloadFileContract, request, {
        signal: AbortSignal.any(signals),
        onEvent: async (event) => {
          if (event.type === "output") await writer.write(event.bytes);
          else await call.onEvent?.(event);
        },
      })
      .then(
        () => writer.close(),
        (error: unknown) => writer.abort(error),
      )
      // Its reader has gone.
      .catch(() => undefined);
    const reader = readable.getReader();
    try {
      for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) yield next.value;
    } finally {
      giveUp.abort();
      await reader.cancel().catch(() => undefined);
      await sent;
    }
  }

  /** A whole file as text. */
  async readText(path: string, call?: CallOptions): Promise<string> {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.readBytes(path, call));
  }

  /** A whole file, of any size that fits in memory; `readStream` needs none. */
  async readBytes(path: string, call?: CallOptions): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this.readStream(path, {}, call)) {
      pieces.push(piece);
      length += piece.length;
    }
    const whole = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  /**
   * Replaces a text that occurs exactly once in a file; with `replaceAll`, every occurrence.
   * @throws INVALID_REQUEST otherwise, with the nearest text and its line; UNSUPPORTED for a file of more than 10 MiB
   */
  async edit(path: string, replacement: EditFileOptions, call?: CallOptions): Promise<EditedFile> {
    return this.#calls.send(editFileContract, { ...replacement, ...(await placeOf(this.#place, call)), path }, call);
  }

  /**
   * Writes a whole file of any size, also one that comes piece by piece; missing folders are created. An existing file is replaced
   * once all of it has come, and stays as it is when that fails.
   */
  async write(
    path: string,
    content: string | Uint8Array | AsyncIterable<Uint8Array>,
    call?: CallOptions,
  ): Promise<WrittenFile> {
    const place = await placeOf(this.#place, call);
    if (typeof content === "string" ? content.length <= maxJsonBytes / 3 : isShort(content)) {
      const body =
        typeof content === "string"
          ? ({ content, encoding: "utf8" } as const)
          : ({ content: toBase64(content as Uint8Array), encoding: "base64" } as const);
      return this.#calls.send(writeFileContract, { ...place, path, ...body }, call);
    }
    const stdin = piecesOf(typeof content === "string" ? new TextEncoder().encode(content) : content);
    return this.#calls.send(uploadFileContract, { ...place, path }, { ...call, stdin });
  }
}

/** The longest content that goes as JSON, in one message that every client can send. */
const maxJsonBytes = 10 * 1024 * 1024;
const pieceBytes = 256 * 1024;

function isShort(content: string | Uint8Array | AsyncIterable<Uint8Array>): boolean {
  return content instanceof Uint8Array && content.length <= maxJsonBytes;
}

async function* piecesOf(content: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  if (!(content instanceof Uint8Array)) {
    yield* content;
    return;
  }
  for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes);
}
