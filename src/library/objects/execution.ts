import { OutputReader, type OutputChunk } from "./output-reader.ts";

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
