import { kibibyte } from "../../base/bytes.ts";
import type { OutputChunk } from "../../engines/engine.ts";

/** How long the beginning of a line waits for its end. */
const holdMs = 50;
/** Bytes of a line that wait; more go on without its end. */
const maxHeldBytes = 8 * kibibyte;
const newline = 0x0a;

/** The beginning of a line. */
interface Held {
  readonly stream: OutputChunk["stream"];
  readonly pieces: Uint8Array[];
  bytes: number;
  /** Resolves to false when it has waited long enough. */
  readonly late: Promise<false>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A process's output in whole lines, and the beginning of a line when its end has not come within 50 ms: a program that
 * writes character by character makes no event of each. Both streams keep their order, and nothing waits at the end.
 * Whoever gives it up does not wait for output that is still to come.
 */
export async function* gatheredOutput(
  output: AsyncIterable<OutputChunk>,
): AsyncGenerator<OutputChunk, void, undefined> {
  const chunks = output[Symbol.asyncIterator]();
  let held: Held | null = null;
  let isOver = false;
  let next = nextOf(chunks);
  try {
    for (;;) {
      if (held !== null && !(await comesInTime(next, held))) {
        yield chunkOf(held);
        held = null;
      }
      const read = await next.catch((error: unknown) => ({ error }));
      if ("error" in read || read.done === true) {
        isOver = true;
        if (held !== null) yield chunkOf(held);
        if ("error" in read) throw read.error;
        return;
      }
      const { stream, bytes } = read.value;
      if (held !== null && held.stream !== stream) {
        yield chunkOf(held);
        held = null;
      }
      const lineEnd = bytes.lastIndexOf(newline) + 1;
      if (lineEnd > 0) {
        const whole = bytes.subarray(0, lineEnd);
        if (held === null) yield { stream, bytes: whole };
        else yield chunkOf(add(held, whole));
        held = null;
      }
      if (lineEnd < bytes.length) {
        held = add(held ?? begin(stream), bytes.subarray(lineEnd));
        if (held.bytes >= maxHeldBytes) {
          yield chunkOf(held);
          held = null;
        }
      }
      next = nextOf(chunks);
    }
  } finally {
    clearTimeout(held?.timer);
    // It may wait for output that does not come.
    if (!isOver) chunks.return?.().catch(() => undefined);
  }
}

function nextOf(chunks: AsyncIterator<OutputChunk, unknown>): Promise<IteratorResult<OutputChunk, unknown>> {
  const next = chunks.next();
  next.catch(() => {
    // Whoever awaits it is told, if somebody does.
  });
  return next;
}

/** True when more, or the end, comes before it has waited long enough. */
function comesInTime(next: Promise<unknown>, { late }: Held): Promise<boolean> {
  const comes = next.then(
    () => true,
    () => true,
  );
  return Promise.race([late, comes]);
}

function begin(stream: OutputChunk["stream"]): Held {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  return { stream, pieces: [], bytes: 0, late, timer: setTimeout(resolve, holdMs, false) };
}

function add(held: Held, bytes: Uint8Array): Held {
  held.pieces.push(bytes);
  held.bytes += bytes.length;
  return held;
}

function chunkOf({ stream, pieces, timer }: Held): OutputChunk {
  clearTimeout(timer);
  return { stream, bytes: Buffer.concat(pieces) };
}
