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
