import type { OutputChunk } from "../engines/engine.ts";

/** Receives a piece of output, without the values of secrets; is not waited for and does not throw. */
export type OutputListener = (chunk: OutputChunk) => void;

/** The one place at which the output of a sandbox's programs can be listened to, beside their callers. */
export class OutputJoint {
  readonly #listeners = new Set<OutputListener>();

  listen(listener: OutputListener): void {
    this.#listeners.add(listener);
  }

  tell(chunk: OutputChunk): void {
    for (const listener of this.#listeners) listener(chunk);
  }
}
