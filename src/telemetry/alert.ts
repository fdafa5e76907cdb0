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
