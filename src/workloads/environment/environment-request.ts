import type { Logger } from "../../base/logger.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import type { Engine } from "../../engines/engine.ts";
import type { ImageListener, ProvideImage } from "../program/ensure-image.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { SetuidListener } from "./container/environment-container.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import type { Environments } from "./environments.ts";
import type { ToolingListener } from "../run/explain-tooling.ts";

/** What an environment is created from. */
export interface OpenEnvironment extends ImageListener {
  readonly id: string;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
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
  readonly provideImage: ProvideImage;
  readonly onProgress: (message: string) => void;
  readonly monotonicMs: () => number;
  readonly now: () => number;
}
