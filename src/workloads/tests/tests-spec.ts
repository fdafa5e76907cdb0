import type { Demand } from "../../engines/assert-enforceable.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ImageName } from "../dependencies/project-tools.ts";

/** A checked test run (SPEC TE1); every value is within the policy already. */
export interface TestsSpec {
  /** Id of its sandbox where the caller knows it already; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  /** The project's folder on this machine, open; it is read and never written. */
  readonly project: Pick<OpenPlace, "stablePath">;
  /** A shell line. */
  readonly testCommand: string;
  /** A shell line that installs what the tests need; undefined: depends on the project's lockfile; empty: nothing. */
  readonly setupCommand: string | undefined;
  /** Whether ignored files are copied too. */
  readonly includeIgnored: boolean;
  /** Laid over the project's copy right before the run. */
  readonly trustedFiles: readonly CheckedContextFile[];
  /** Names of the tests to run, as a result's `failures` have them; empty: all. */
  readonly onlyTests: readonly string[];
  /** Where a tool leaves a report in JUnit XML or CTRF, relative to the project's copy; undefined: none does. */
  readonly reportFile: string | undefined;
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** Formats in which the whole report is requested. */
  readonly wanted: { readonly ctrf: boolean; readonly junit: boolean };
  readonly limits: Limits;
  /** Time of the installation. */
  readonly setupTimeoutMs: number;
  /** Of the tests; the installation has the registries. */
  readonly network: NetworkPolicy;
  /** Undefined: by the project. */
  readonly image: string | undefined;
  /** Whether the image is that of the project's own Dockerfile. */
  readonly dockerfile: boolean;
  readonly defaultImages: Readonly<Record<ImageName, string>>;
  /** Requested OCI runtime; undefined: the engine's default. */
  readonly ociRuntime: string | undefined;
  readonly minIsolation: Isolation;
  /** What was requested by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}
