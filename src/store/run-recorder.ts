import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Store } from "./store.ts";

/** Writes every run down, at its start and at its end. */
export class RunRecorder implements SandboxObserver {
  readonly #store: Pick<Store, "add">;
  readonly #server: string;
  readonly #positionIn: (sandbox: string) => number | null;

  /** `server`: the id of this one; `positionIn`: where a sandbox's log continues, null if it has none. */
  constructor(store: Pick<Store, "add">, server: string, positionIn: (sandbox: string) => number | null) {
    this.#store = store;
    this.#server = server;
    this.#positionIn = positionIn;
  }

  runStarted({ labels, policy, startedAtMs, ...run }: StartedRun): void {
    const { id, principal, kind, engine, sandbox, session, environment } = run;
    const unknown = { ended_ms: null, outcome: null, exit_code: null, duration_ms: null, error_type: null };
    const ids = { id, server: this.#server, principal, kind, engine, sandbox, session, environment };
    const row = { ...ids, policy_digest: policy.digest, started_ms: startedAtMs, ...unknown, interrupted: 0 };
    const log = { log_from: this.#positionIn(sandbox), log_to: null };
    this.#store.add({ kind: "run", row: { ...row, ...log, forgotten: 0 }, policy: policy.text, labels });
  }

  runEnded({ id, sandbox }: StartedRun, { outcome, exitCode, durationMs, errorType, endedAtMs }: RunEnding): void {
    const end = { ended_ms: endedAtMs, outcome, exit_code: exitCode, duration_ms: durationMs, error_type: errorType };
    this.#store.add({ kind: "run_end", row: { id, ...end, log_to: this.#positionIn(sandbox) } });
  }
}
