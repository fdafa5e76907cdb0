import { createId } from "../../base/id.ts";
import type { RunningCall } from "../../calls/running-call.ts";

const prefix = "sbx";

/** An id for a run and its fresh sandbox, known before there is capacity for it (SPEC EX3). */
export function createSandboxId(): string {
  return createId(prefix);
}

/** Whether a run has the id of its own sandbox. */
export function isOfOwnSandbox({ id }: Pick<RunningCall, "id">): boolean {
  return id.startsWith(`${prefix}-`);
}
