import { GloveboxError } from "../../errors/glovebox-error.ts";
import {
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
} from "../../operations/files/files-contract.ts";
import { fromBase64, toBase64 } from "./forms/base64.ts";
import type { CallOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { EditFileOptions, ReadFileOptions } from "./generated/options.ts";
import type { EditedFile, FileContent, FileList, WrittenFile } from "./generated/results.ts";
import { placeOf, type PlaceSource } from "./places.ts";

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

  /** A whole file as text. @throws UNSUPPORTED for one of more than 10 MiB */
  async readText(path: string, call?: CallOptions): Promise<string> {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.readBytes(path, call));
  }

  /** A whole file. @throws UNSUPPORTED for one of more than 10 MiB */
  async readBytes(path: string, call?: CallOptions): Promise<Uint8Array> {
    const { content, truncated, sizeBytes } = await this.read(path, { encoding: "base64" }, call);
    if (!truncated) return fromBase64(content);
    throw new GloveboxError("UNSUPPORTED", `${path} has ${sizeBytes} bytes, more than fit in one answer.`, {
      suggestion: "Read it in pieces: `read` with `offset`.",
    });
  }

  /**
   * Replaces a text that occurs exactly once in a file; with `replaceAll`, every occurrence.
   * @throws INVALID_REQUEST otherwise, with the nearest text and its line; UNSUPPORTED for a file of more than 10 MiB
   */
  async edit(path: string, replacement: EditFileOptions, call?: CallOptions): Promise<EditedFile> {
    return this.#calls.send(editFileContract, { ...replacement, ...(await placeOf(this.#place, call)), path }, call);
  }

  /** Writes a whole file of at most 10 MiB; missing folders are created, an existing file is replaced. */
  async write(path: string, content: string | Uint8Array, call?: CallOptions): Promise<WrittenFile> {
    const body =
      typeof content === "string"
        ? ({ content, encoding: "utf8" } as const)
        : ({ content: toBase64(content), encoding: "base64" } as const);
    return this.#calls.send(writeFileContract, { ...(await placeOf(this.#place, call)), path, ...body }, call);
  }
}
