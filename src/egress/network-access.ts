import { GloveboxError } from "../errors/glovebox-error.ts";
import { namedDomains, type NetworkPolicy } from "../policy/network/network.ts";
import { defaultPorts, hostOf, type DomainPattern, type HostAndPort } from "../policy/network/domain-names.ts";
import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { UpstreamFault } from "../policy/network/upstream-proxy.ts";
import type { EgressConnection, RedactText } from "./egress-connection.ts";
import type { EgressProxies } from "./egress-proxies.ts";
import type { Registry } from "./proxy-messages.ts";
import { registryVariables, type RegistrySettings } from "./registry-settings.ts";

/** Where programs find the egress proxy: the only port that a sandbox's network has. */
export const networkPort = 3128;
/** The host's certificates, in every sandbox's scratch. */
export const certificateFile = "/tmp/.glovebox-certificates.pem";

/** Variables by which common programs find the proxy, the certificates and the registries. */
export function sandboxVariables(registries: readonly Registry[]): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${networkPort}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    ...both({ http_proxy: proxy, https_proxy: proxy, no_proxy: direct }),
    // Node reads the three above only when told to.
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: certificateFile,
    SSL_CERT_FILE: certificateFile,
    REQUESTS_CA_BUNDLE: certificateFile,
    CURL_CA_BUNDLE: certificateFile,
    GIT_SSL_CAINFO: certificateFile,
    PIP_CERT: certificateFile,
    // Its answer would come too late to matter, and costs a connection.
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    npm_config_update_notifier: "false",
    ...registryVariables(registries),
  };
}

interface NetworkAccessOptions {
  readonly proxies: Pick<EgressProxies, "of">;
  /** Called at most once in the life of a server. */
  readonly readRegistries: () => Promise<RegistrySettings>;
  /** Hosts that the operator trusts with private addresses. */
  readonly privateHosts: readonly HostAndPort[];
  /** Bytes that one sandbox may send and receive. */
  readonly maxBytes: number;
  /** Why the operator's upstream proxy cannot be used: then there is no network, rather than one that bypasses it. */
  readonly upstreamFault: UpstreamFault | null;
}

/** The network that one run may have, before its sandbox exists. */
export interface NetworkGrant {
  /** For programs in the sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the caller should know, one sentence each. */
  readonly warnings: readonly string[];
  /** For `EgressConnection.change`: switches a sandbox to this policy. */
  readonly policy: EgressPolicy;
  /** Those that the host trusts, in PEM: for programs in the sandbox. */
  readonly certificates: string;
  /** @throws NETWORK_ERROR */
  connect(sandboxId: string, redact: RedactText): Promise<EgressConnection>;
}

interface Known extends RegistrySettings {
  readonly own: readonly HostAndPort[];
  readonly files: readonly HostAndPort[];
}

/** Turns network policies into what the proxy enforces and what programs need to use it. */
export class NetworkAccess {
  readonly #options: NetworkAccessOptions;
  #known: Promise<Known> | undefined;

  constructor(options: NetworkAccessOptions) {
    this.#options = options;
  }

  /** The network for a principal's run; null for `none`. @throws NETWORK_ERROR */
  async grant(policy: NetworkPolicy, principal: string): Promise<NetworkGrant | null> {
    if (policy.kind === "none") return null;
    const { upstreamFault } = this.#options;
    if (upstreamFault !== null) throw unusableProxy(upstreamFault);
    const proxy = this.#options.proxies.of(principal);
    proxy.warmUp();
    const known = policy.kind === "registries" ? await this.#registries() : null;
    const egress = this.#egressPolicy(policy, known);
    return {
      environment: sandboxVariables(known?.registries ?? []),
      warnings: known?.problems ?? [],
      policy: egress,
      certificates: await proxy.certificates(),
      connect: (sandboxId, redact) => proxy.connect(sandboxId, egress, redact),
    };
  }

  #egressPolicy(policy: Exclude<NetworkPolicy, { kind: "none" }>, known: Known | null): EgressPolicy {
    const { privateHosts, maxBytes } = this.#options;
    const named = namedDomains(policy);
    if (policy.kind !== "registries") {
      const allowed = policy.kind === "open" ? [everyName, ...named] : named;
      return { name: policy.kind, allowed, trusted: privateHosts, maxBytes };
    }
    const { own = [], files = [] } = known ?? {};
    const name = policy.isInstalling === true ? "installing" : "registries";
    const registries = [...own, ...files].map(({ name, port }) => ({ name, subdomains: false, ports: [port] }));
    return {
      name: named.length === 0 ? name : "registries and domains",
      allowed: [...registries, ...named],
      // The operator chose the registry, wherever it is; but the registry itself chose the hosts it points to.
      trusted: [...own, ...privateHosts],
      maxBytes,
    };
  }

  #registries(): Promise<Known> {
    this.#known ??= this.#askRegistries();
    this.#known.catch(() => (this.#known = undefined));
    return this.#known;
  }

  async #askRegistries(): Promise<Known> {
    const settings = await this.#options.readRegistries();
    // All principals share this answer, so it must not come from a sandbox's proxy.
    const proxy = this.#options.proxies.of(ownPrincipal);
    const asked = await Promise.all(settings.registries.map((registry: Registry) => proxy.fileHosts(registry)));
    return { ...settings, own: settings.registries.flatMap(({ url }) => hostOf(url) ?? []), files: asked.flat() };
  }
}

function unusableProxy({ variable, fault }: UpstreamFault): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `There is no network: the variable ${variable} ${fault}.`, {
    suggestion: `Correct ${variable} where Glovebox is started, or unset it for connections without a proxy.`,
    context: { reason: "upstream_proxy_invalid", variable, retryable: false },
  });
}

/** The principal of Glovebox's own requests. */
const ownPrincipal = "glovebox";

const everyName: DomainPattern = { name: "", subdomains: true, ports: defaultPorts };

/** curl reads http_proxy in lower case only, others in upper case only. */
function both(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toUpperCase(), value],
    ]),
  );
}
