import type { Logger } from "../../base/logger.ts";
import type { Engine } from "../../engines/engine.ts";
import type { PreviewGateway } from "../../ingress/preview-gateway.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { DiskScratch } from "../../sandbox/scratch/disk-scratch.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { PreviewError } from "./errors/error-scanner.ts";

/** Is told what goes wrong in previews while they live; is not waited for and does not throw. */
export interface PreviewAlertListener {
  failed(sandbox: string, error: PreviewError): void;
  /** What was wrong is so no more. */
  recovered(sandbox: string): void;
}

/** What every preview of this server needs. */
export interface PreviewParts {
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly gateway: Pick<PreviewGateway, "open">;
  readonly alerts: PreviewAlertListener;
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

/** What one preview needs beside those, and who is told while it starts. */
export interface PreviewStart {
  readonly engine: Engine;
  /** As the caller may use it. */
  readonly network: GrantNetwork;
  /** Where installed dependencies are kept. */
  readonly packages: Pick<Packages, "projects">;
  /** Has an image there, pulled or built. */
  readonly provideImage: (image: string, isDemanded: boolean) => Promise<void>;
  readonly onSandbox: (sandboxId: string) => void;
  readonly onDenied: (denial: Denial) => void;
  /** What goes on before the command, in words for people. */
  readonly onProgress: (message: string) => void;
}
