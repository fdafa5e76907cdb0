import type { SandboxRow } from "./sandboxes-contract.ts";

/** A sandbox that exists now, and how to end it from here. */
export interface FoundSandbox {
  readonly row: SandboxRow;
  /** As in the labels of its container. */
  readonly startedAs: string;
  /** Whether there was a record of it. */
  readonly isRecorded: boolean;
  remove(): Promise<void>;
}
