import type { Demand } from "../../engines/assert-enforceable.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { ImageName } from "../dependencies/project-tools.ts";

/** A checked preview (SPEC PV1); every value is within the policy already. */
export interface PreviewSpec {
  /** The project's folder on this machine, held open; it is only read, never written. The preview closes it. */
  readonly project: OpenPlace;
  /** The shell line that starts the server. */
  readonly command: string;
  /** TCP port that it listens on, as far as is known: where it listens elsewhere, that port is followed. */
  readonly port: number;
  /** Whether the caller named that port. */
  readonly isPortNamed: boolean;
  /** A shell line that installs what it needs; undefined: depends on the project's lockfile; empty: nothing. */
  readonly setupCommand: string | undefined;
  /** Whether ignored files are copied too. */
  readonly includeIgnored: boolean;
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** For the command: installations do not get them. */
  readonly secrets: readonly ProgramSecret[];
  /** Its time limit begins with the command. */
  readonly limits: Limits;
  /** Time of the installation. */
  readonly setupTimeoutMs: number;
  /** Of the command; the installation has the registries. */
  readonly network: NetworkPolicy;
  /** Undefined: by the project. */
  readonly image: string | undefined;
  /** Whether it is the image of the project's own Dockerfile, which is built where it is missing. */
  readonly dockerfile: boolean;
  readonly defaultImages: Readonly<Record<ImageName, string>>;
  /** Requested OCI runtime; undefined: the engine's default. */
  readonly ociRuntime: string | undefined;
  readonly minIsolation: Isolation;
  /** What was requested explicitly, so that an engine that cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}
