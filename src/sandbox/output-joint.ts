import type { OutputChunk } from "../engines/engine.ts";
import type { Redaction } from "../policy/redaction/redaction.ts";

/**
 * Receives a piece of output, without the values of secrets; is not waited for and does not throw. `program` is one object
 * for all the output of one program.
 */
export type OutputListener = (chunk: OutputChunk, program: object) => void;

/** Told that a program writes no more. */
export type OutputEndListener = (program: object) => void;

/** The one place at which the output of a sandbox's programs can be listened to, beside their callers. */
export class OutputJoint {
  readonly #listeners = new Set<OutputListener>();
  readonly #endListeners = new Set<OutputEndListener>();
  /**
   * What takes secrets out of the newest program's output; null: none was started yet. It knows all that earlier programs were
   * given, because a place's secrets only grow.
   */
  redaction: Redaction | null = null;

  listen(listener: OutputListener, onEnd?: OutputEndListener): void {
    this.#listeners.add(listener);
    if (onEnd !== undefined) this.#endListeners.add(onEnd);
  }

  tell(chunk: OutputChunk, program: object): void {
    for (const listener of this.#listeners) listener(chunk, program);
  }

  end(program: object): void {
    for (const listener of this.#endListeners) listener(program);
  }
}
