import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { readRegistrySettings, registryVariables } from "../egress/registry-settings.ts";
import type { Engine } from "../engines/engine.ts";
import type { HostInstalling } from "../packages/packages.ts";
import { openInstaller } from "../engines/engine-table.ts";
import { guardEngine } from "../engines/guarded-engine.ts";
import { engineSurroundings } from "./engine-surroundings.ts";

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
