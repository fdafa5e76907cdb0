import { Kept } from "../base/kept.ts";
import type { SandboxObserver, ObservedSandbox } from "../sandbox/sandbox-observer.ts";

/**
 * Something about a live sandbox that its owner should know, in the form in which it is delivered everywhere (SPEC
 * ME2).
 */
export interface Alert {
  /** Id of the sandbox. */
  readonly container_id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly kind: "cpu" | "memory" | "network" | "preview_error" | "oom" | "setuid_files" | "tooling_files";
  /** What was measured; for `network` the connections that were refused until now, for `tooling_files` the files that changed. */
  readonly value: number;
  /** What `value` went above; for `network` and `tooling_files` 0. */
  readonly threshold: number;
  /** An alert that has started ends, at the latest with its sandbox's network. */
  readonly state: "start" | "end";
  /** One sentence: what happened. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestion: string;
}

/** Receives alerts; is not waited for. */
export type AlertListener = (alert: Alert) => void;

/** What is asked for; what is left out matches everything. */
interface AlertFilter {
  readonly sandbox?: string | undefined;
  readonly kind?: Alert["kind"] | undefined;
  readonly state?: Alert["state"] | undefined;
  /** RFC 3339; none before it. */
  readonly since?: string | undefined;
}

/** Receives the alerts of one principal; is not waited for and does not throw. */
type PrincipalAlertListener = (alert: Alert, principal: string) => void;

/** Alerts kept of one principal, and principals of whom any are kept. */
const max = { alerts: 500, principals: 1_000, gone: 1_000 } as const;

interface Entry {
  readonly number: number;
  readonly alert: Alert;
}

/** The newest alerts of each principal, for those who ask later, and those who listen now. */
export class AlertBook implements SandboxObserver {
  /** Whose sandbox it is, also for a while after its end. */
  readonly #owners = new Map<string, string>();
  readonly #gone: string[] = [];
  /** By principal; whose last alert is the oldest comes first. */
  readonly #alerts = new Kept<Entry[]>({ max: max.principals });
  readonly #listeners = new Set<PrincipalAlertListener>();
  #number = 0;

  sandboxOpened({
    sandbox,
    principal,
  }: Pick<ObservedSandbox, "principal"> & { readonly sandbox: { readonly id: string } }): void {
    this.#owners.set(sandbox.id, principal);
  }

  sandboxRemoved(id: string): void {
    this.#gone.push(id);
    const [forgotten] = this.#gone.length > max.gone ? this.#gone.splice(0, 1) : [];
    if (forgotten !== undefined) this.#owners.delete(forgotten);
  }

  /** Of a sandbox that is not known, none is kept. */
  add(alert: Alert): void {
    const principal = this.#owners.get(alert.container_id) ?? null;
    if (principal === null) return;
    const entries = this.#alerts.get(principal) ?? [];
    entries.push({ number: ++this.#number, alert });
    if (entries.length > max.alerts) entries.shift();
    this.#alerts.set(principal, entries);
    for (const listener of this.#listeners) listener(alert, principal);
  }

  /** A principal's, oldest first. */
  list(principal: string, { sandbox, kind, state, since }: AlertFilter = {}): readonly Alert[] {
    const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
    return (this.#alerts.get(principal) ?? [])
      .map(({ alert }) => alert)
      .filter(
        (alert) =>
          (sandbox === undefined || alert.container_id === sandbox) &&
          (kind === undefined || alert.kind === kind) &&
          (state === undefined || alert.state === state) &&
          Date.parse(alert.timestamp) >= sinceMs,
      );
  }

  /** Names this moment, for `since`. */
  get mark(): number {
    return this.#number;
  }

  /** Alerts of a sandbox that came after a moment, oldest first. */
  since(mark: number, sandbox: string): readonly Alert[] {
    const principal = this.#owners.get(sandbox) ?? null;
    const entries = principal === null ? [] : (this.#alerts.get(principal) ?? []);
    return entries
      .filter(({ number, alert }) => number > mark && alert.container_id === sandbox)
      .map(({ alert }) => alert);
  }

  /** Every alert of a principal's from now on, until the function that it returns is called. */
  listen(listener: PrincipalAlertListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
