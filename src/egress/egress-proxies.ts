import { EgressProxy, type EgressProxyOptions } from "./egress-proxy.ts";

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
