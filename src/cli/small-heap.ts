import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { mebibyte } from "../base/bytes.ts";

/** V8's heap and what V8 counts beside it. A server that has served a thousand runs has about this much. */
const largeFrom = 48 * mebibyte;
/** A flood of output makes some 7 MB of garbage a second. */
const lookEveryMs = 1_000;

/**
 * Has V8 collect garbage early instead of letting the heap of this process grow into the machine's memory: a flood of
 * log lines otherwise leaves hundreds of MB of garbage behind. This is not a limit: work that needs much memory still
 * gets it.
 */
export function keepHeapSmall(): void {
  // V8 reads each of these whenever it decides, not only at start-up.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=20");
  // The middle one of V8's compilers leaves 13 MB of the C library's heap behind; runs are as fast without it.
  setFlagsFromString("--no-maglev");
  setFlagsFromString("--optimize-for-size");
  // Only while the heap is large: in a server with little to do, half of the runs would meet a collection of all of it.
  setInterval(() => {
    const { total_heap_size: heap, external_memory: beside } = getHeapStatistics();
    setFlagsFromString(heap + beside > largeFrom ? "--optimize-for-size" : "--no-optimize-for-size");
  }, lookEveryMs).unref();
}
