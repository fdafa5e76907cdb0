import { closeSync } from "node:fs";
import { openNetworkNamespace, type NetworkNamespaceOptions } from "./network-namespace.ts";

/** Network namespaces for containers, the next one made ahead. Each serves one container, from its start to its end. */
export class NetworkPool {
  readonly #options: Omit<NetworkNamespaceOptions, "signal">;
  readonly #closing = new AbortController();
  #next: Promise<number> | null = null;

  constructor(options: Omit<NetworkNamespaceOptions, "signal">) {
    this.#options = options;
  }

  /** One that is now the caller's, who closes its descriptor. @throws what `openNetworkNamespace` throws */
  async take(signal: AbortSignal | undefined): Promise<number> {
    const ready = this.#next;
    this.#next = null;
    const made = await ready?.catch(() => null);
    return made ?? openNetworkNamespace({ ...this.#options, signal });
  }

  /** Makes the next one in the background; called when a container has gone, and no run waits for it. */
  replenish(): void {
    const { signal } = this.#closing;
    if (signal.aborted || this.#next !== null) return;
    this.#next = openNetworkNamespace({ ...this.#options, signal });
    this.#next.catch(() => {
      // Who takes it makes another, and is told why not.
    });
  }

  close(): void {
    this.#closing.abort();
    void this.#next?.then(closeSync, () => undefined);
    this.#next = null;
  }
}
