import type { Logger } from "../../base/logger.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { SetuidListener } from "./container/environment-container.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import type { Environments } from "./environments.ts";
import type { ToolingListener } from "./project/tooling-traces.ts";

/** What an environment is created from. */
export interface OpenEnvironment {
  readonly id: string;
  readonly engine: Engine;
  /** Opens the project, and checks everything that might be refused. */
  readonly readSpec: () => Promise<EnvironmentSpec>;
  readonly environments: Environments;
  readonly sandboxes: Sandboxes;
  readonly setuidAlerts: SetuidListener;
  readonly network: Pick<NetworkAccess, "grant">;
  readonly logger: Logger;
  readonly host: { readonly platform: NodeJS.Platform; readonly executable: string };
  readonly toolingAlerts: ToolingListener;
  readonly onPull: (image: string, progress: PullProgress) => void;
  readonly onProgress: (message: string) => void;
  readonly monotonicMs: () => number;
  readonly now: () => number;
}
