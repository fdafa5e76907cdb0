import type { Duplex } from "node:stream";

/**
 * A stream that is silent for this long after its program's end holds nothing more of the program. Twice what a loaded
 * engine needed.
 */
const silenceMs = 500;
/** Docker closes the streams of an ended program itself after 2 s. */
const maxMs = 2_500;
/** More than all buffers between a program and us hold: anything that comes after it is a child's. */
const maxBytes = 4_194_304;

export interface Drain {
  /** Tells that bytes came. */
  saw(bytes: number): void;
  /** Ends the drain now; later calls do nothing. */
  finish(): void;
}

/**
 * Takes what an ended program left in the stream, whether or not the consumer reads: the engine throws it away after
 * a while. Calls `onDone` once, at the end of the stream, after silence, or at a limit that only a child left behind reaches.
 */
export function startDrain(socket: Duplex, onDone: () => void): Drain {
  let left = maxBytes;
  let done = false;
  const finish = (): void => {
    if (done) return;
    done = true;
    clearTimeout(silence);
    clearTimeout(longest);
    onDone();
  };
  const silence = setTimeout(() => {
    const before = left;
    // After a pause of the whole server the timer fires before data that arrived meanwhile.
    setImmediate(() => {
      if (left === before) finish();
    });
  }, silenceMs);
  const longest = setTimeout(finish, maxMs);
  if (socket.readableEnded || socket.destroyed) finish();
  else socket.resume();
  return {
    saw: (bytes) => {
      left -= bytes;
      if (left <= 0) finish();
      else silence.refresh();
    },
    finish,
  };
}
