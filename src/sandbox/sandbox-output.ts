import type { OutputChunk } from "../engines/engine.ts";
import type { Redaction } from "../policy/redaction.ts";

/**
 * Receives a piece of output, with secrets removed; it is not awaited and must not throw. `program` is one object for
 * all the output of one program.
 */
type OutputListener = (chunk: OutputChunk, program: object) => void;

/** Called when a program's output has ended. */
type OutputEndListener = (program: object) => void;

/** Lets others than the callers listen to the output of a sandbox's programs. */
export class OutputJoint {
  readonly #listeners = new Set<OutputListener>();
  readonly #endListeners = new Set<OutputEndListener>();
  /**
   * The redactor of the newest program's output; null: none was started yet. It includes the secrets of all earlier
   * programs, because a place's secrets only accumulate.
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

/** A process's output without the values of secrets; each stream separately, and as fast as its reader takes it. */
export function redactedOutput(output: AsyncIterable<OutputChunk>, redaction: Redaction): AsyncIterable<OutputChunk> {
  const redactors = { stdout: redaction.stream(), stderr: redaction.stream() };
  const { stdout, stderr } = redactors;
  if (stdout === null || stderr === null) return output;
  return replaced(output, { stdout, stderr });
}

type Redactors = Readonly<Record<OutputChunk["stream"], NonNullable<ReturnType<Redaction["stream"]>>>>;

async function* replaced(
  output: AsyncIterable<OutputChunk>,
  redactors: Redactors,
): AsyncGenerator<OutputChunk, void, undefined> {
  for await (const { stream, bytes } of output) {
    const known = redactors[stream].write(bytes);
    if (known.length > 0) yield { stream, bytes: known };
  }
  for (const stream of ["stdout", "stderr"] as const) {
    const rest = redactors[stream].end();
    if (rest.length > 0) yield { stream, bytes: rest };
  }
}
