import type { ImageOrigin } from "../../../policy/image-reference.ts";
import type { Capabilities } from "../../../engines/capabilities.ts";
import type { Engine } from "../../../engines/engine.ts";
import type { Limits } from "../../../policy/limits.ts";
import type { Denial } from "../../../policy/network/denial.ts";
import type { NetworkPolicy } from "../../../policy/network/network.ts";
import type { Sandboxes } from "../../../sandbox/sandboxes.ts";
import type { ProjectSource } from "../../project/copy-project.ts";
import type { GrantNetwork } from "../../run/start-program.ts";
import type { Kit } from "../../../base/kit.ts";

/** The image of a project's own Dockerfile, to be built or found. */
export interface ImageBuildRequest extends Omit<ProjectSource, "maxBytes">, Kit {
  readonly engine: Engine;
  readonly capabilities: Capabilities;
  /** Undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
  readonly sandboxes: Pick<Sandboxes, "open">;
  /** Makes sure that the base image exists. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly network: GrantNetwork;
  /** The network for RUN. */
  readonly networkPolicy: NetworkPolicy;
  /** Limits of the build's sandbox; `diskBytes`: everything written on top of the base. */
  readonly limits: Limits;
  /** Of the whole build. */
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  readonly onDenied: (denial: Denial) => void;
}

/** An image, and variables for its programs in addition to the image's own. */
export interface BuiltImage {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
}
