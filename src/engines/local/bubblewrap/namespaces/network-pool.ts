import { closeSync } from "node:fs";
import { openNetworkNamespace, type NetworkNamespaceOptions } from "./network-namespace.ts";

/** Longer than a caller of a single run needs to close the engine afterwards, so that none is made for nothing. */
const replenishAfterMs = 20;

/**
 * Network namespaces for containers; the next one is made in advance. Each serves one container, from its start to its
 * end.
 */
export class NetworkPool {
  readonly #options: Omit<NetworkNamespaceOptions, "signal">;
  readonly #closing = new AbortController();
  #next: Promise<number> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Omit<NetworkNamespaceOptions, "signal">) {
    this.#options = options;
  }

  /** One that now belongs to the caller, who closes its descriptor. @throws what `openNetworkNamespace` throws */
  async take(signal: AbortSignal | undefined): Promise<number> {
    const ready = this.#next;
    this.#next = null;
    const made = await ready?.catch(() => null);
    return made ?? openNetworkNamespace({ ...this.#options, signal });
  }

  /**
   * Makes the next one in the background after a short delay: called when a container has gone, which may have been the
   * last.
   */
  replenish(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#makeNext(), replenishAfterMs).unref();
  }

  /** Takes one back that only our own processes have used; it is the next one to be given. */
  giveBack(descriptor: number): void {
    if (this.#closing.signal.aborted || this.#next !== null) closeSync(descriptor);
    else this.#next = Promise.resolve(descriptor);
  }

  #makeNext(): void {
    const { signal } = this.#closing;
    if (signal.aborted || this.#next !== null) return;
    this.#next = openNetworkNamespace({ ...this.#options, signal });
    this.#next.catch(() => {
      // The next caller makes another, and is told if that fails.
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closing.abort();
    void this.#next?.then(closeSync, () => undefined);
    this.#next = null;
  }
}
