import { untilCancelled } from "../../base/abort.ts";
import { feedStream } from "../../base/streams/feed-stream.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import type { Visit } from "../../sandbox/peers/added-program.ts";

export interface FollowVisit {
  /** Missing: the program's input is empty. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Awaited before more is read, so that a slow listener slows the program. */
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A visitor's program to its end, with all that it started; resolves to its exit code.
 * @throws CANCELLED once it has been ended for the caller, SANDBOX_LOST
 */
export async function followVisit(visit: Visit, { input, onOutput, signal }: FollowVisit): Promise<number> {
  const read = async (): Promise<void> => {
    for await (const chunk of visit.output) await onOutput(chunk);
  };
  if (input === undefined) visit.stdin.end();
  const fed = input === undefined ? Promise.resolve() : feedStream(visit.stdin, input, visit.exit);
  fed.catch(() => {
    // A source that fails is the end of the input; the program goes on.
    visit.stdin.end();
  });
  try {
    await untilCancelled(read(), signal);
    const { exitCode } = await untilCancelled(visit.exit, signal);
    await untilCancelled(visit.settled, signal);
    return exitCode;
  } catch (error) {
    await visit.end();
    throw error;
  }
}
