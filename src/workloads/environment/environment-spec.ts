import type { Demand } from "../../engines/enforcement/assert-enforceable.ts";
import type { MountIdentity } from "../../engines/container-spec.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Limits } from "../../policy/limits/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { ToolingFilesMode } from "../../policy/tooling/tooling-files.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ProgramSecret } from "../../sandbox/secrets/program-secret.ts";

/** Where an environment's project is, and where commands start. */
export const projectFolder = "/workdir";

/** A checked environment (SPEC EV1); every value is within the policy already. */
export interface EnvironmentSpec {
  readonly id: string;
  /** What its caller has marked it with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  /** OCI runtime that was asked for; undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
  /** Commands that prepare the image, each a program and its arguments; empty for none. */
  readonly setupCommands: readonly (readonly string[])[];
  /** Run once after those, as the user of all commands, with the project writable. */
  readonly installCommands: readonly (readonly string[])[];
  /** Null: `/workdir` is an empty folder of the environment's own. */
  readonly project: Project | null;
  /** How the files are treated through which the project runs code on its owner's machine (SPEC MO2). */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths of the project that count as such beside the built-in ones. */
  readonly toolingPaths: readonly string[];
  /** Whether the image's files stay as they are, and there is scratch instead. */
  readonly readOnlyRoot: boolean;
  /** `timeoutMs` is that of commands that name none. */
  readonly limits: Limits;
  readonly network: NetworkPolicy;
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** Reads the secrets of every command and background process, as their sources have them now. */
  readonly readSecrets: () => Promise<readonly ProgramSecret[]>;
  readonly minIsolation: Isolation;
  /** What was asked for by name, so that an engine which cannot enforce it is refused. */
  readonly explicitDemands: readonly Demand[];
}

/** A folder of this machine, held open for as long as the environment lives. */
export interface Project {
  readonly place: OpenPlace;
  /** Of the place that was checked. */
  readonly identity: MountIdentity;
  readonly readOnly: boolean;
}
