import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Store } from "./store.ts";

/** Writes every run down, at its start and at its end. */
export class RunRecorder implements SandboxObserver {
  readonly #store: Pick<Store, "add">;
  readonly #server: string;

  /** `server`: the id of this one. */
  constructor(store: Pick<Store, "add">, server: string) {
    this.#store = store;
    this.#server = server;
  }

  runStarted({ id, principal, kind, engine, sandbox, session, environment, startedAtMs, policy }: StartedRun): void {
    const unknown = { ended_ms: null, outcome: null, exit_code: null, duration_ms: null, error_type: null };
    const ids = { id, server: this.#server, principal, kind, engine, sandbox, session, environment };
    const row = { ...ids, policy_digest: policy.digest, started_ms: startedAtMs, ...unknown, interrupted: 0 };
    this.#store.add({ kind: "run", row, policy: policy.text });
  }

  runEnded({ id }: StartedRun, { outcome, exitCode, durationMs, errorType, endedAtMs }: RunEnding): void {
    const end = { ended_ms: endedAtMs, outcome, exit_code: exitCode, duration_ms: durationMs, error_type: errorType };
    this.#store.add({ kind: "run_end", row: { id, ...end } });
  }
}
