import type { OutputChunk } from "../engine.ts";

/** Longest text that can be a process number and its newline. */
const mostBytes = 12;
const newline = 0x0a;

/**
 * Program and arguments that say the number of their process in one line and then become the command.
 * The number stays: it is that of the command's first process, as seen from inside.
 */
export function announced(command: readonly string[]): readonly string[] {
  return ["sh", "-c", 'echo "$$"; exec "$@"', "sh", ...command];
}

/** Takes the line of `announced` from the beginning of an output. */
export class OpeningLine {
  readonly #number = Promise.withResolvers<number | null>();
  #held = Buffer.alloc(0);
  #decided = false;

  /** The process number; null when the output began with something else. */
  get number(): Promise<number | null> {
    return this.#number.promise;
  }

  /** The chunks without the line; as they are when there was none. */
  pass(chunks: readonly OutputChunk[]): readonly OutputChunk[] {
    if (this.#decided) return chunks;
    const [stdout, rest] = [chunks.filter(isStdout), chunks.filter((chunk) => !isStdout(chunk))];
    this.#held = Buffer.concat([this.#held, ...stdout.map((chunk) => chunk.bytes)]);
    const end = this.#held.indexOf(newline);
    if (end < 0 && this.#held.length < mostBytes) return rest;
    return [...this.#decide(end), ...rest];
  }

  /** Nothing more comes; the bytes that were held back. */
  finish(): readonly OutputChunk[] {
    return this.#decided ? [] : this.#decide(-1);
  }

  #decide(end: number): readonly OutputChunk[] {
    this.#decided = true;
    const line = this.#held.toString("latin1", 0, Math.max(end, 0));
    const isNumber = /^[1-9]\d*$/.test(line);
    this.#number.resolve(isNumber ? Number(line) : null);
    const bytes = isNumber ? this.#held.subarray(end + 1) : this.#held;
    return bytes.length === 0 ? [] : [{ stream: "stdout", bytes }];
  }
}

function isStdout({ stream }: OutputChunk): boolean {
  return stream === "stdout";
}
