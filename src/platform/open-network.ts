import type { Kit } from "../base/kit.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { EgressProxies } from "../egress/egress-proxies.ts";
import { NetworkAccess } from "../egress/network-access.ts";
import { readRegistrySettings } from "../egress/registry-settings.ts";
import type { Traffic } from "../egress/egress-connection.ts";
import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { Door } from "./engine-chooser.ts";

export interface OpenedNetwork {
  readonly egressProxies: EgressProxies;
  readonly network: NetworkAccess;
}

export interface NetworkOptions {
  readonly config: Config;
  readonly host: Host;
  readonly door: Door;
  readonly networkAlerts: AlertSink<Denial>;
  readonly traffic: Traffic;
  readonly kit: Kit;
}

/** How long a principal's egress proxy is kept while no sandbox uses it. */
const proxyIdleMs = 300_000;

/** No proxy runs before a sandbox needs one. */
export function openNetwork({ config, host, door, networkAlerts, traffic, kit }: NetworkOptions): OpenedNetwork {
  const { logger, platform, executable } = kit;
  const { upstreamProxy } = config;
  const isFaulty = upstreamProxy !== null && "fault" in upstreamProxy;
  const egressProxies = new EgressProxies({
    idleMs: proxyIdleMs,
    platform,
    node: { executable, flags: host.nodeFlags },
    temporaryDirectory: host.temporaryDirectory,
    environment: host.environment,
    dnsServers: config.network.dnsServers,
    hostAddresses: config.network.hostAddresses,
    upstream: isFaulty ? null : upstreamProxy,
    logger,
    // Users of the command line are told by the command itself.
    refusalLevel: door === "server" ? "warn" : "info",
    refusals: networkAlerts,
    traffic,
  });
  const network = new NetworkAccess({
    proxies: egressProxies,
    readRegistries: () => readRegistrySettings(host),
    privateHosts: config.network.privateHosts,
    maxBytes: config.network.maxBytes,
    upstreamFault: isFaulty ? upstreamProxy : null,
  });
  return { egressProxies, network };
}
