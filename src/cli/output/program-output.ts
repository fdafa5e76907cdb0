import type { Writable } from "node:stream";
import { untilWritable } from "../../base/streams/chunks.ts";
import { escapeControls } from "./terminal-escape.ts";

/** A stream of the command itself; the rest is as Node's process streams have it. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/**
 * Passes a program's bytes on to one of the command's streams: untouched to files and pipes, made harmless to a
 * terminal.
 */
export class ProgramOutput {
  readonly #target: OutputStream;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(target: OutputStream) {
    this.#target = target;
  }

  /** Resolves when the stream can take more, or is closed. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.offer(bytes)) await untilWritable(this.#target);
  }

  /** The same without waiting; returns whether the stream can take more. */
  offer(bytes: Uint8Array): boolean {
    if (this.#target.destroyed) return true;
    return this.#target.isTTY
      ? this.#target.write(escapeControls(this.#decoder.decode(bytes, { stream: true })))
      : this.#target.write(bytes);
  }
}
