import type { Config } from "../../config/config.ts";
import type { Host } from "../../config/host/host.ts";
import type { LoadedMountPolicy } from "../../config/load-mount-policy.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { AlertBook } from "../../telemetry/alert-book.ts";
import type { ProvideImage } from "../../workloads/program/ensure-image.ts";
import type { EngineChooser } from "./engine-chooser.ts";

/** What handlers need that start sandboxes: how requests are checked, and where engines and images come from. */
export interface StartNeeds extends Pick<EngineChooser, "minIsolation" | "chooseEngine"> {
  readonly config: Config;
  readonly host: Host;
  /** Refuses a network policy that the deployment, or the caller's grant, does not allow. @throws POLICY_DENIED */
  assertNetworkAllowed(policy: NetworkPolicy, field?: string): void;
  /**
   * An image that a request names, as given, unless it is no reference or the caller's grant does not allow it.
   * @throws INVALID_REQUEST, POLICY_DENIED naming the field
   */
  checkImage(reference: string, field?: string): string;
  readonly provideImage: ProvideImage;
  readonly alertBook: AlertBook;
}

/** What handlers need that open folders and files of this machine. */
export interface MountNeeds {
  readonly host: Host;
  /** What sandboxes may currently get of this machine's disk. @throws INVALID_REQUEST for a bad mount allowlist */
  loadMountPolicy(): Promise<LoadedMountPolicy>;
}

/** What a workload needs of the platform, without what depends on its engine and its call. */
export type RunNeeds<Dependencies> = Omit<Dependencies, "engine" | "provideImage" | "maxOutputBytes">;
