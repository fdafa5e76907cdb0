import { setFlagsFromString } from "node:v8";

/**
 * Has V8 collect garbage early instead of letting the heap of this process grow into the machine's memory: a flood of
 * log lines otherwise leaves hundreds of MB of garbage behind. This is not a limit: work that needs much memory still
 * gets it.
 */
export function keepHeapSmall(): void {
  // V8 reads each of them whenever it decides, not only at start-up.
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--semi-space-growth-factor=1");
  // The middle one of V8's compilers leaves 13 MB behind in the C library's heap. Runs are as fast without it; a flood of
  // short log lines is a fifth slower.
  setFlagsFromString("--no-maglev");
}
