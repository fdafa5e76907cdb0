import { setFlagsFromString } from "node:v8";

/**
 * Has V8 collect garbage early instead of letting the heap of this process grow into the machine's memory: a flood of log
 * lines otherwise leaves hundreds of MB of garbage behind. There is no limit: work that needs much memory gets it.
 */
export function keepHeapSmall(): void {
  // Both are looked at whenever V8 decides, not only at its start.
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--semi-space-growth-factor=1");
}
