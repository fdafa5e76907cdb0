import type { AffectedVersions } from "../../base/affected-versions.ts";
import type { Severity } from "./finding-schema.ts";

/** A known vulnerability of an engine's component. */
export interface KnownDanger {
  /** `EngineComponent.name`. */
  readonly component: string;
  /** Identifiers of its public records; the record is the row's source. */
  readonly cves: readonly string[];
  readonly affected: readonly AffectedVersions[];
  readonly severity: Severity;
  /** What can happen, in one sentence. */
  readonly effect: string;
  /** Condition under which it matters at all. */
  readonly onlyWith?: "authorization plugins" | "a setuid helper" | "level preload";
  /** First package revisions of distributions that have the fix without upstream's version; `EngineComponent.build`. */
  readonly backports?: readonly string[];
  /** Whether the component reports upstream's version even if its package has backported fixes. */
  readonly hidesBackports?: true;
}
