import { splitLabel } from "../../operations/contract/request-schemas.ts";
import type { OwnSandboxes, SandboxStateAnswer, StoredRunAnswer } from "../../operations/sandboxes-contract.ts";
import type { RouteContext } from "../routes/route-context.ts";

type StoredRuns = NonNullable<RouteContext["platform"]["store"]>["runs"];
type StoredRun = Awaited<ReturnType<StoredRuns["listEnded"]>>[number];

/** The caller's ended runs in the store. @throws INTERNAL if it does not answer */
export async function storedRows(
  runs: StoredRuns,
  query: { readonly principal: string; readonly label: readonly string[] | undefined; readonly limit: number },
): Promise<OwnSandboxes["sandboxes"]> {
  const { principal, label = [], limit } = query;
  const found = await runs.listEnded({ principal, labels: label.map((each) => splitLabel(each)), limit });
  return found.map((run) => ({ ...aboutStored(run), state: "ended" as const }));
}

/**
 * A run whose answer is no longer in memory, with the end of its output. @throws INTERNAL if the store does not answer
 */
export async function storedState(runs: StoredRuns, run: StoredRun, nowMs: number): Promise<SandboxStateAnswer> {
  const { stdout, stderr } = await runs.tails(run);
  return {
    ...aboutStored(run, nowMs),
    state: run.ended_ms === null ? "running" : "ended",
    ...{ progress: null, stdout_tail: stdout, stderr_tail: stderr },
  };
}

function aboutStored(run: StoredRun, nowMs: number = run.started_ms) {
  const stored: StoredRunAnswer = {
    ...{ run_id: run.id, kind: run.kind, engine: run.engine, session_id: run.session, env_id: run.environment },
    policy_digest: run.policy_digest,
    started_at: timestamp(run.started_ms),
    ended_at: run.ended_ms === null ? null : timestamp(run.ended_ms),
    ...{ outcome: run.outcome, exit_code: run.exit_code, duration_ms: run.duration_ms, error_type: run.error_type },
    interrupted: run.interrupted === 1,
  };
  const elapsed_ms = Math.max(0, (run.ended_ms ?? nowMs) - run.started_ms);
  return {
    ...{ id: run.toldId, sandbox_id: run.sandbox, operation: null, name: run.name, work: run.work },
    ...{ labels: { ...run.labels }, elapsed_ms, kind: run.kind, engine: run.engine, image: run.image },
    stored,
  };
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
