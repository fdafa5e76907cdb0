import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { expandHome } from "../config/host/host-paths.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import { installerLimits } from "../packages/installer-plan.ts";
import { Packages } from "../packages/packages.ts";
import type { ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { HostInstaller } from "./host-installer.ts";
import type { Kit } from "../base/kit.ts";

export interface OpenedPackages {
  readonly packages: Packages;
  /** Null if nothing is installed on this machine itself. */
  readonly hostInstaller: HostInstaller | null;
}

export interface PackagesOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  readonly identity: ProcessIdentity;
  /** Where packages are installed. */
  readonly installers: Sandboxes;
  readonly network: NetworkAccess;
}

/** Nothing is installed and no cache is opened yet. */
export function openPackages(options: PackagesOptions): OpenedPackages {
  const { config, host, identity, installers, network, kit } = options;
  const { logger, now } = kit;
  const hostInstaller = config.packages.installAtPreload ? new HostInstaller(config, host) : null;
  const packages = new Packages({
    folder: expandHome(config.packages.directory, host.homeDirectory),
    maxBytes: config.packages.maxBytes,
    sandboxes: installers,
    network,
    configuredImages: [...Object.values(config.images), ...config.templates.map(({ image }) => image)],
    onHost: hostInstaller,
    policy: config.packages.policy,
    limits: installerLimits(config.ceilings),
    uid: host.uid,
    identity,
    logger,
    now,
  });
  return { packages, hostInstaller };
}
