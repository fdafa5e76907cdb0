import { setFlagsFromString } from "node:v8";

/**
 * Has V8 collect garbage early instead of letting the heap of this process grow into the machine's memory: a flood of
 * log lines otherwise leaves hundreds of MB of garbage behind. This is not a limit: work that needs much memory still
 * gets it.
 */
export function keepHeapSmall(): void {
  // V8 reads both each time it decides, not only at start-up.
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--semi-space-growth-factor=1");
}
