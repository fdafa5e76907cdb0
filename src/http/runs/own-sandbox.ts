import { createId } from "../../base/id.ts";
import type { RunningCall } from "../../calls/running-call.ts";

const prefix = "sbx";

/** An id for a run and for the fresh sandbox that will do it, known before there is a place for it (SPEC EX3). */
export function createSandboxId(): string {
  return createId(prefix);
}

/** Whether a run has its id from its own sandbox. */
export function isOfOwnSandbox({ id }: Pick<RunningCall, "id">): boolean {
  return id.startsWith(`${prefix}-`);
}
