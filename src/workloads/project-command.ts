import type { AlertSink } from "../base/alert-sink.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Demand } from "../engines/assert-enforceable.ts";
import type { Packages } from "../packages/packages.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { Limits } from "../policy/limits.ts";
import type { NetworkPolicy } from "../policy/network/network.ts";
import type { ChangedToolingFile } from "../policy/tooling/tooling-changes.ts";
import type { ToolingFilesMode } from "../policy/tooling/tooling-files.ts";
import type { Caller } from "../sandbox/sandboxes.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import type { ImageName } from "./dependencies/project-tools.ts";
import type { ProjectRunDependencies, ProjectRunListener } from "./project/project-run.ts";
import type { GuardedFolders } from "./run/guard-folders.ts";
import type { HostMount } from "./run/host-mount.ts";
import type { ToolingReport } from "./run/explain-tooling.ts";
import type { ProgramResult } from "./run/program-result.ts";

/** A checked command in a project (SPEC UI1); every value is within the policy already. */
export interface ProjectCommandSpec {
  /** Id of its sandbox where the caller knows it already; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  /** The project's folder on this machine, open, and where it is in the sandbox. */
  readonly project: HostMount;
  /** A shell line. */
  readonly command: string;
  /** A shell line that installs what the command needs; undefined: by the project's lockfile; empty: nothing. */
  readonly setupCommand: string | undefined;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** As `checkPackages` gives them for the language of the project's image; empty: none. */
  readonly packages: readonly string[];
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  readonly secrets: readonly ProgramSecret[];
  readonly toolingFiles: ToolingFilesMode;
  readonly toolingPaths: readonly string[];
  readonly limits: Limits;
  /** Time of the installation. */
  readonly setupTimeoutMs: number;
  /** Of the command; the installation has the registries. */
  readonly network: NetworkPolicy;
  /** Undefined: by the project. */
  readonly image: string | undefined;
  readonly defaultImages: Readonly<Record<ImageName, string>>;
  /** OCI runtime that was asked for; undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
  readonly minIsolation: Isolation;
  /** What was requested by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}

export interface ProjectCommandDependencies extends ProjectRunDependencies, Pick<GuardedFolders, "setuidAlerts"> {
  readonly packages: Pick<Packages, "projects" | "provide">;
  readonly toolingAlerts: AlertSink<ToolingReport>;
}

/** One command: what is requested, by whom, and who is told. */
export interface ProjectCommandRun {
  readonly spec: ProjectCommandSpec;
  readonly dependencies: ProjectCommandDependencies;
  readonly caller: Caller;
  readonly listener: ProjectRunListener;
  readonly capabilities: Capabilities;
}

/** The outcome of a command in a project. */
export interface ProjectCommandResult extends ProgramResult {
  /** Null where the engine has no images. */
  readonly image: string | null;
  /** What was run to install; null: nothing. */
  readonly setupCommand: string | null;
  /** The requested packages in the versions that the command had. */
  readonly packages: readonly string[];
  /** What has changed of the files that tools of the project's owner run. */
  readonly toolingFiles: readonly ChangedToolingFile[];
}
