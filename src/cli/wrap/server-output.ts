import type { OutputStream } from "../output/program-output.ts";
import { ProgramOutput } from "../output/program-output.ts";

const newline = 0x0a;

/** The longest line so far, in bytes. */
export class LineBound {
  readonly #maxBytes: number;
  #lineBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts more bytes; returns whether every line so far, including the unfinished one, is within the bound. */
  holds(bytes: Uint8Array): boolean {
    const first = bytes.indexOf(newline);
    const upToFirst = this.#lineBytes + (first === -1 ? bytes.length : first);
    this.#lineBytes = first === -1 ? upToFirst : bytes.length - 1 - bytes.lastIndexOf(newline);
    return upToFirst <= this.#maxBytes;
  }
}

/** Relays a server's stderr; what a client does not read is dropped, so that it never blocks the protocol. */
export class DiagnosticOutput {
  readonly #target: OutputStream;
  readonly #output: ProgramOutput;
  readonly #maxWaitingBytes: number;
  /** Bytes dropped because they were not read in time. */
  droppedBytes = 0;

  constructor(target: OutputStream, maxWaitingBytes: number) {
    this.#target = target;
    this.#output = new ProgramOutput(target);
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#target.writableLength > this.#maxWaitingBytes) this.droppedBytes += bytes.length;
    else this.#output.offer(bytes);
  }
}
