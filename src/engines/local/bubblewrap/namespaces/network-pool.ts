import { closeSync } from "node:fs";
import { openNetworkNamespace, type NetworkNamespaceOptions } from "./network-namespace.ts";

/** Longer than a caller of a single run takes to close the engine after it, so that none is made for nothing. */
const replenishAfterMs = 20;

/** Network namespaces for containers, the next one made ahead. Each serves one container, from its start to its end. */
export class NetworkPool {
  readonly #options: Omit<NetworkNamespaceOptions, "signal">;
  readonly #closing = new AbortController();
  #next: Promise<number> | null = null;
  #timer: NodeJS.Timeout | undefined;

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

  /**
   * Makes the next one in the background, a little later: called when a container has gone, and it may have been the
   * last one.
   */
  replenish(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#makeNext(), replenishAfterMs).unref();
  }

  /** Has back one that was taken and that nothing but our own has been in; from now on it is the next one. */
  giveBack(descriptor: number): void {
    if (this.#closing.signal.aborted || this.#next !== null) closeSync(descriptor);
    else this.#next = Promise.resolve(descriptor);
  }

  #makeNext(): void {
    const { signal } = this.#closing;
    if (signal.aborted || this.#next !== null) return;
    this.#next = openNetworkNamespace({ ...this.#options, signal });
    this.#next.catch(() => {
      // Who takes it makes another, and is told why not.
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closing.abort();
    void this.#next?.then(closeSync, () => undefined);
    this.#next = null;
  }
}
