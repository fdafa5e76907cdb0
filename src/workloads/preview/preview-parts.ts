import type { AlertSink } from "../../base/alert-sink.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Logger } from "../../base/logger.ts";
import type { Engine } from "../../engines/engine.ts";
import type { PreviewGateway } from "../../ingress/preview-gateway.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { PreviewError } from "./error-scanner.ts";

/** What every preview of this server needs. */
export interface PreviewParts {
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly gateway: Pick<PreviewGateway, "open">;
  readonly alerts: AlertSink<PreviewError>;
  readonly logger: Logger;
  readonly maxOutputBytes: number;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Node's executable. */
  readonly executable: string;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
