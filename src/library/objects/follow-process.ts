import type { CallSignal } from "./call-options.ts";
import type { ProcessDetails } from "./generated/results.ts";
import { pause } from "./pause.ts";

/** A piece of what a background process wrote. */
export interface ProcessChunk {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  /** Bytes of the stream before this piece that were dropped before they could be read. */
  readonly droppedBytes: number;
}

/** Delays between requests while there is nothing new. */
const [minPauseMs, maxPauseMs] = [50, 1000];

interface Offsets {
  readonly stdoutOffset: number;
  readonly stderrOffset: number;
}

/** Output from its beginning to the end of both streams. @throws CANCELLED */
export async function* followProcess(
  read: (offsets: Offsets) => Promise<ProcessDetails>,
  signal: CallSignal | undefined,
): AsyncGenerator<ProcessChunk, undefined> {
  const next = { stdout: 0, stderr: 0 };
  let pauseMs = minPauseMs;
  for (;;) {
    const details = await read({ stdoutOffset: next.stdout, stderrOffset: next.stderr });
    let isNew = false;
    for (const stream of ["stdout", "stderr"] as const) {
      const part = details[stream];
      if (part === undefined || part.nextOffset === next[stream]) continue;
      isNew = true;
      const droppedBytes = Math.max(0, part.offset - next[stream]);
      next[stream] = part.nextOffset;
      yield { stream, text: part.text, droppedBytes };
    }
    if (isNew) pauseMs = minPauseMs;
    else if (details.stdout?.isOver !== false && details.stderr?.isOver !== false) return;
    else {
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }
}
