import { GloveboxError } from "../../errors/glovebox-error.ts";

/** A piece of what a program writes, as it comes. */
export interface OutputChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8; a character split between two chunks is in the later one. */
  readonly text: string;
}

/** Bytes kept until a reader begins. */
const maxUnreadBytes = 1_048_576;
/** Bytes buffered for a reader before the program has to wait. */
const maxWaitingBytes = 65_536;

/** Output on its way from a program to one reader, which may start late or never. */
export class OutputReader {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #chunks: OutputChunk[] = [];
  #waitingBytes = 0;
  #state: "unread" | "reading" | "discarding" = "unread";
  #overflowed = false;
  #end: { readonly error?: unknown } | null = null;
  #wakeReader: () => void = () => undefined;
  #wakeWriter: () => void = () => undefined;

  /** Resolves when the program may write more. */
  readonly take = async (stream: OutputChunk["stream"], bytes: Uint8Array): Promise<void> => {
    if (this.#state === "discarding" || this.#overflowed) return;
    const chunk = { stream, bytes, text: this.#decoders[stream].decode(bytes, { stream: true }) };
    if (this.#state === "unread" && this.#waitingBytes + bytes.length > maxUnreadBytes) {
      this.#overflowed = true;
      this.#chunks = [];
      return;
    }
    this.#push(chunk);
    while (this.#isReading() && this.#waitingBytes > maxWaitingBytes) {
      await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
    }
  };

  end(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const text = this.#decoders[stream].decode();
      if (text !== "") this.#push({ stream, bytes: new Uint8Array(0), text });
    }
    this.#finish({});
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  /** @throws INVALID_REQUEST for a second reader, and for one that starts too late to get all of it */
  async *read(): AsyncGenerator<OutputChunk, undefined> {
    if (this.#state !== "unread") throw misread("it can be read once", "Read it only once.");
    if (this.#overflowed) {
      throw misread(`more than ${maxUnreadBytes} bytes came before`, "Start reading right after the call.");
    }
    this.#state = "reading";
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#waitingBytes -= chunk.bytes.length;
          this.#wakeWriter();
          yield chunk;
        } else if (this.#end === null) await new Promise<void>((resolve) => (this.#wakeReader = resolve));
        else if ("error" in this.#end) throw this.#end.error;
        else return;
      }
    } finally {
      this.#state = "discarding";
      this.#chunks = [];
      this.#wakeWriter();
    }
  }

  #isReading(): boolean {
    return this.#state === "reading";
  }

  #push(chunk: OutputChunk): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.bytes.length;
    this.#wakeReader();
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end = end;
    this.#wakeReader();
  }
}

function misread(why: string, suggestion: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The output cannot be read: ${why}.`, { suggestion });
}
