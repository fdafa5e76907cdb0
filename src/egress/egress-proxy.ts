import type { EgressPolicy } from "../policy/network/egress-policy.ts";
import type { HostAndPort } from "../policy/network/host-and-port.ts";
import { EgressConnection } from "./egress-connection.ts";
import { ProxyProcess, type ProxyProcessOptions } from "./proxy-process.ts";
import type { Registry } from "./proxy-messages.ts";
import type { RedactText, RefusalListener } from "./refusal-listener.ts";
import type { Traffic } from "./traffic.ts";

export interface EgressProxyOptions extends ProxyProcessOptions {
  /** Log level of refused connections. */
  readonly refusalLevel: "info" | "warn";
  readonly refusals: RefusalListener;
  readonly traffic: Pick<Traffic, "of">;
}

/** The egress proxy of a principal: one process, started when first needed, and restarted after it has ended. */
export class EgressProxy implements AsyncDisposable {
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
