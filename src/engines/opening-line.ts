import type { OutputChunk } from "./engine.ts";

/** Longest text that can be a process number and its newline. */
const maxBytes = 12;
const newline = 0x0a;

/** An output without its opening line, and the process number that the line told. */
export interface OpenedOutput {
  /** Null when the output began with something else, or ended without a line. Resolves whether or not anybody reads. */
  readonly number: Promise<number | null>;
  readonly output: AsyncIterable<OutputChunk>;
}

/** More on standard error before the line than this, and there is none. */
const maxEarlyBytes = 65_536;

/** Takes the line from an output with which a program of ours says the number of its process before it becomes another one. */
export function takeOpeningLine(output: AsyncIterable<OutputChunk>): OpenedOutput {
  const source = output[Symbol.asyncIterator]();
  const opening = new OpeningLine();
  const head = readHead(source, opening);
  head.catch(() => {
    // The reader is told; perhaps there is none.
  });
  let isDropped = false;
  const next = async (): Promise<IteratorResult<OutputChunk, undefined>> => {
    const chunks = await head;
    const chunk = isDropped ? undefined : chunks.shift();
    if (chunk !== undefined) return { value: chunk, done: false };
    const result = await source.next();
    return result.done === true ? { value: undefined, done: true } : result;
  };
  const drop = async (): Promise<IteratorResult<OutputChunk, undefined>> => {
    isDropped = true;
    // The number is still to come.
    void head.then(() => source.return?.()).catch(() => undefined);
    return { value: undefined, done: true };
  };
  return { number: opening.number, output: { [Symbol.asyncIterator]: () => ({ next, return: drop }) } };
}

/** Reads until it is known whether there is a line; the chunks without it. */
async function readHead(source: AsyncIterator<OutputChunk>, opening: OpeningLine): Promise<OutputChunk[]> {
  const chunks: OutputChunk[] = [];
  let bytes = 0;
  try {
    while (!opening.isDecided && bytes <= maxEarlyBytes) {
      const result = await source.next();
      if (result.done === true) break;
      bytes += result.value.bytes.length;
      chunks.push(...opening.pass([result.value]));
    }
  } finally {
    chunks.push(...opening.finish());
  }
  return chunks;
}

/** That line at the beginning of an output. */
export class OpeningLine {
  readonly #number = Promise.withResolvers<number | null>();
  #held = Buffer.alloc(0);
  #decided = false;

  get isDecided(): boolean {
    return this.#decided;
  }

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
    if (end < 0 && this.#held.length < maxBytes) return rest;
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
