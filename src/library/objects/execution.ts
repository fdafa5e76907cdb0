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

/**
 * A program that runs: await it for its result, iterate it for its output while it runs, or both.
 *
 * A slow reader slows the program. Up to 1 MiB of output from before the reading began is kept; after a reader stops
 * early, the program continues. If the call fails (a refusal, an abort), reading fails with the same error.
 *
 * @example
 * const run = glovebox.execute({ language: "python", code });
 * for await (const { stream, text } of run) process[stream].write(text);
 * const { ok, exitCode } = await run;
 */
export class Execution<Result> implements Promise<Result>, AsyncIterable<OutputChunk> {
  readonly [Symbol.toStringTag] = "Execution";
  readonly #result: Promise<Result>;
  readonly #output = new OutputReader();

  /** @internal */
  constructor(start: (onOutput: OutputReader["take"]) => Promise<Result>) {
    this.#result = start((stream, bytes) => this.#output.take(stream, bytes)).then(
      (result) => {
        this.#output.end();
        return result;
      },
      (error: unknown) => {
        this.#output.fail(error);
        throw error;
      },
    );
  }

  // oxlint-disable-next-line unicorn/no-thenable
  then<Value = Result, Failure = never>(
    onFulfilled?: ((result: Result) => Value | PromiseLike<Value>) | null,
    onRejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#result.then(onFulfilled, onRejected);
  }

  catch<Failure = never>(
    onRejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#result.catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Result> {
    return this.#result.finally(onFinally);
  }

  /** What the program writes, in order of arrival; can be read only once. */
  [Symbol.asyncIterator](): AsyncIterator<OutputChunk, undefined> {
    // The reader receives the error, so the result need not be awaited as well.
    this.#result.catch(() => undefined);
    return this.#output.read();
  }
}

/** The result of a program. */
export type Result<Response> = Response & {
  /** Whether it ended by itself with exit code 0; of a test run: whether its verdict is `passed`. */
  readonly ok: boolean;
};

/** The fields in which results say how a program ended, whatever kind it was. */
interface Ending {
  readonly outcome?: string;
  readonly exitCode?: number | null;
  readonly verdict?: string;
  readonly reason?: string;
  readonly error?: { readonly message: string; readonly suggestion: string } | undefined;
}

/** A program that failed, for callers that asked for an exception (`throwOnError`). */
export class ProgramError<Response = unknown> extends Error {
  override readonly name = "ProgramError";
  /** Everything known about it, including its output. */
  readonly result: Result<Response>;

  constructor(result: Result<Response>) {
    super(describeEnd(result));
    this.result = result;
  }
}

/** @throws ProgramError for a program that failed, if asked to */
export function resultOf<Response>(response: Response, throwOnError: boolean): Result<Response> {
  const { outcome, exitCode, verdict } = response as Ending;
  const hasEnded = outcome === undefined ? exitCode === 0 : outcome === "completed";
  const ok = verdict === undefined ? hasEnded : verdict === "passed";
  const result = { ...response, ok };
  if (throwOnError && !ok) throw new ProgramError(result);
  return result;
}

function describeEnd(result: object): string {
  const { outcome = "failed", exitCode, error, verdict, reason } = result as Ending;
  if (error !== undefined) return `${error.message} ${error.suggestion}`;
  if (verdict !== undefined) return `The tests ended: ${verdict}. ${reason ?? ""}`.trim();
  return exitCode === null || exitCode === undefined
    ? `The program ended: ${outcome}.`
    : `The program ended with exit code ${exitCode}.`;
}

function misread(why: string, suggestion: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The output cannot be read: ${why}.`, { suggestion });
}
