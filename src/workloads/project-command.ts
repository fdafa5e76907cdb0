import type { AlertSink } from "../base/alert-sink.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Packages } from "../packages/packages.ts";
import type { ChangedToolingFile } from "../policy/tooling-changes.ts";
import type { ToolingFilesMode } from "../policy/tooling-files.ts";
import type { Caller } from "../sandbox/sandboxes.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import type { ProjectSettings } from "./dependencies/project-sandbox.ts";
import type { ProjectRunDependencies, ProjectRunListener } from "./project/project-run.ts";
import type { GuardedFolders } from "./run/guard-folders.ts";
import type { HostMount } from "./run/host-mount.ts";
import type { ToolingReport } from "./run/explain-tooling.ts";
import type { ProgramResult } from "./run/program-result.ts";

/** A checked command in a project (SPEC UI1); every value is within the policy already. */
export interface ProjectCommandSpec extends ProjectSettings {
  /** The project's folder on this machine, open, and where it is in the sandbox. */
  readonly project: HostMount;
  /** A shell line. */
  readonly command: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** As `checkPackages` gives them for the language of the project's image; empty: none. */
  readonly packages: readonly string[];
  readonly secrets: readonly ProgramSecret[];
  readonly toolingFiles: ToolingFilesMode;
  readonly toolingPaths: readonly string[];
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
