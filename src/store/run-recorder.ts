import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Store } from "./store.ts";
import type { StoreRecord } from "./store-record.ts";

type RunStart = Extract<StoreRecord, { readonly kind: "run" }>;

/** Writes every run down, at its start and at its end. */
export class RunRecorder implements SandboxObserver {
  readonly #store: Pick<Store, "add">;
  readonly #server: string;
  readonly #positionIn: (sandbox: string) => number | null;
  /** Starts that found no room: they go with the ends. */
  readonly #unwritten = new WeakMap<StartedRun, RunStart>();

  /** `server`: the id of this one; `positionIn`: where a sandbox's log continues, null if it has none. */
  constructor(store: Pick<Store, "add">, server: string, positionIn: (sandbox: string) => number | null) {
    this.#store = store;
    this.#server = server;
    this.#positionIn = positionIn;
  }

  runStarted(started: StartedRun): void {
    const { labels, policy, startedAtMs, ...run } = started;
    const { id, principal, kind, engine, sandbox, session, environment, name, work, image } = run;
    const unknown = { ended_ms: null, outcome: null, exit_code: null, duration_ms: null, error_type: null };
    const ids = { id, server: this.#server, principal, kind, engine, sandbox, session, environment };
    const row = {
      ...ids,
      name,
      work,
      image,
      policy_digest: policy.digest,
      started_ms: startedAtMs,
      ...unknown,
      interrupted: 0,
    };
    const log = { log_from: this.#positionIn(sandbox), log_to: null };
    const record: RunStart = { kind: "run", row: { ...row, ...log, forgotten: 0 }, policy: policy.text, labels };
    if (!this.#store.add(record)) this.#unwritten.set(started, record);
  }

  runEnded(started: StartedRun, { outcome, exitCode, durationMs, errorType, endedAtMs }: RunEnding): void {
    const ended = { ended_ms: endedAtMs, outcome, exit_code: exitCode, duration_ms: durationMs, error_type: errorType };
    const end = { ...ended, log_to: this.#positionIn(started.sandbox) };
    const unwritten = this.#unwritten.get(started);
    if (unwritten === undefined) this.#store.add({ kind: "run_end", row: { id: started.id, ...end } });
    else this.#store.add({ ...unwritten, row: { ...unwritten.row, ...end } });
  }
}
