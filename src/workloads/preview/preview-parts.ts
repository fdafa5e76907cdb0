import type { AlertSink } from "../../base/alert-sink.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Engine } from "../../engines/engine.ts";
import type { PreviewGateway } from "../../ingress/preview-gateway.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { PreviewError } from "./error-scanner.ts";
import type { Kit } from "../../base/kit.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { CopySettings } from "../dependencies/project-sandbox.ts";

/** What every preview of this server needs. */
export interface PreviewParts extends Kit {
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly gateway: Pick<PreviewGateway, "open">;
  readonly alerts: AlertSink<PreviewError>;
  readonly maxOutputBytes: number;
}

/** What one preview needs in addition, and who receives events while it starts. */
export interface PreviewStart {
  readonly engine: Engine;
  /** As the caller may use it. */
  readonly network: GrantNetwork;
  /** Where installed dependencies are kept. */
  readonly packages: Pick<Packages, "projects">;
  /** Makes sure that an image exists, by pulling or building it. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly onSandbox: (sandboxId: string) => void;
  readonly onDenied: (denial: Denial) => void;
  /** Progress before the command, for people. */
  readonly onProgress: (message: string) => void;
}

/** A checked preview (SPEC PV1); every value is within the policy already. Its time limit begins with the command. */
export interface PreviewSpec extends CopySettings {
  /** The project's folder on this machine, held open; it is only read, never written. The preview closes it. */
  readonly project: OpenPlace;
  /** The shell line that starts the server. */
  readonly command: string;
  /** TCP port that it listens on, as far as is known: where it listens elsewhere, that port is followed. */
  readonly port: number;
  /** Whether the caller named that port. */
  readonly isPortNamed: boolean;
  /** For the command: installations do not get them. */
  readonly secrets: readonly ProgramSecret[];
}
