import type { AffectedVersions } from "../../base/versions/affected-versions.ts";
import type { Severity } from "./finding-schema.ts";

/** A fault of a part of an engine that its users should know of. */
export interface KnownDanger {
  /** `EngineComponent.name`. */
  readonly component: string;
  /** Identifiers of its public records; the record is the row's source. */
  readonly cves: readonly string[];
  readonly affected: readonly AffectedVersions[];
  readonly severity: Severity;
  /** What can happen, in one sentence. */
  readonly effect: string;
  /** What must be so for the fault to matter at all. */
  readonly onlyWith?: "authorization plugins" | "a setuid helper" | "level preload";
  /** First package revisions of distributions that have the fix without upstream's number; `EngineComponent.build`. */
  readonly backports?: readonly string[];
  /** Whether the part tells upstream's version even when its package has fixes of its own. */
  readonly hidesBackports?: true;
}
