import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/domain-names.ts";
import { EgressConnection, type RedactText, type Traffic } from "./egress-connection.ts";
import { ProxyProcess, type ProxyProcessOptions } from "./proxy-process.ts";
import type { Registry } from "./proxy-messages.ts";
import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";

interface EgressProxyOptions extends ProxyProcessOptions {
  /** Log level of refused connections. */
  readonly refusalLevel: "info" | "warn";
  readonly refusals: AlertSink<Denial>;
  readonly traffic: Pick<Traffic, "of">;
}

/** The egress proxy of a principal: one process, started when first needed, and restarted after it has ended. */
class EgressProxy implements AsyncDisposable {
  readonly #options: EgressProxyOptions;
  #process: Promise<ProxyProcess> | undefined;
  #usesSinceLook = 0;
  #failures = 0;

  constructor(options: EgressProxyOptions) {
    this.#options = options;
  }

  /** Starts the process ahead of its first use; a failure shows at that use. */
  warmUp(): void {
    this.#running().catch(() => {
      // The first use reports it.
    });
  }

  /** PEM of the certificates that the host trusts. @throws NETWORK_ERROR */
  async certificates(): Promise<string> {
    return (await this.#running()).certificates;
  }

  /** @throws NETWORK_ERROR */
  async fileHosts(registry: Registry): Promise<readonly HostAndPort[]> {
    return (await this.#running()).fileHosts(registry);
  }

  /** The proxy's end of a sandbox's network, under the policy given. @throws NETWORK_ERROR */
  async connect(sandbox: string, policy: EgressPolicy, redact: RedactText): Promise<EgressConnection> {
    const process = await this.#running();
    const { logger, refusalLevel, refusals } = this.#options;
    const traffic = this.#options.traffic.of(sandbox);
    return EgressConnection.open({ process, sandbox, policy, logger, refusalLevel, refusals, traffic, redact });
  }

  /** Ends the process if no sandbox uses it or has requested it since the last call. */
  endIfIdle(): void {
    const running = this.#process;
    const uses = this.#usesSinceLook;
    this.#usesSinceLook = 0;
    void running?.then(
      (process) => {
        if (uses === 0 && process.channelCount === 0 && this.#process === running) void this.close();
      },
      () => undefined,
    );
  }

  async close(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    await running?.then(
      (process) => process.close(),
      () => {
        // It never started.
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #running(): Promise<ProxyProcess> {
    this.#usesSinceLook++;
    if (this.#process === undefined) {
      const starting = ProxyProcess.start(this.#options);
      this.#process = starting;
      const forget = (): void => {
        if (this.#process !== starting) return;
        this.#process = undefined;
        this.#failures++;
        this.#options.logger.error({ failures: this.#failures }, "egress proxy failed; the next use starts another");
      };
      void starting.then(({ ended }) => ended.then(forget), forget);
    }
    return this.#process;
  }
}

export interface EgressProxiesOptions extends EgressProxyOptions {
  /** How long a proxy that no sandbox uses is kept. */
  readonly idleMs: number;
}

/**
 * The egress proxies of a server, one for each principal: whatever a sandbox does to its own affects no other
 * principal.
 */
export class EgressProxies implements AsyncDisposable {
  readonly #options: EgressProxiesOptions;
  readonly #proxies = new Map<string, EgressProxy>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: EgressProxiesOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#endIdle(), options.idleMs).unref();
  }

  /** The principal's proxy; nothing is started before it is used. */
  of(principal: string): EgressProxy {
    const proxy = this.#proxies.get(principal) ?? new EgressProxy(this.#options);
    this.#proxies.set(principal, proxy);
    return proxy;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const proxies = [...this.#proxies.values()];
    this.#proxies.clear();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** It must be idle in two consecutive checks: one that has just been requested is about to be used. */
  #endIdle(): void {
    for (const proxy of this.#proxies.values()) proxy.endIfIdle();
  }
}
