import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { readRegistrySettings, registryVariables } from "../egress/registry-settings.ts";
import type { Engine } from "../engines/engine.ts";
import { Packages, type HostInstalling } from "../packages/packages.ts";
import { openInstaller } from "../engines/engine-table.ts";
import { guardEngine } from "../engines/guarded-engine.ts";
import { engineSurroundings } from "./engine-chooser.ts";
import { expandHome } from "../config/host/host-paths.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import { installerLimits } from "../packages/find-installer.ts";
import type { ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { Kit } from "../base/kit.ts";

/** Variables with which the tools find the network's proxy and the trusted certificates. */
const networkVariables = [
  ...["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"],
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];

/** Installs on this machine itself, if the operator allows it; the engine is created when first needed. */
export class HostInstaller implements HostInstalling {
  readonly #config: Config;
  readonly #host: Host;
  #engine: Promise<Engine> | undefined;

  constructor(config: Config, host: Host) {
    this.#config = config;
    this.#host = host;
  }

  engine(): Promise<Engine> {
    this.#engine ??= openInstaller(engineSurroundings(this.#config, this.#host)).then((engine) => guardEngine(engine));
    return this.#engine;
  }

  async registries(): ReturnType<HostInstalling["registries"]> {
    const { registries, problems } = await readRegistrySettings(this.#host);
    const own = networkVariables.flatMap((name) => {
      const value = this.#host.environment[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { environment: { ...Object.fromEntries(own), ...registryVariables(registries) }, problems };
  }

  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }
}

interface OpenedPackages {
  readonly packages: Packages;
  /** Null if nothing is installed on this machine itself. */
  readonly hostInstaller: HostInstaller | null;
}

interface PackagesOptions {
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
