/** Bytes that a sandbox has exchanged with its egress proxy, over all its connections. */
export interface TrafficCount {
  receivedBytes: number;
  sentBytes: number;
}

/** The traffic of the sandboxes that have had a network. They have no other way out, so it is all of their traffic. */
export class Traffic {
  readonly #counts = new Map<string, TrafficCount>();

  /** A sandbox's count, started if there is none; kept until `forget`. */
  of(sandbox: string): TrafficCount {
    const known = this.#counts.get(sandbox);
    if (known !== undefined) return known;
    const count = { receivedBytes: 0, sentBytes: 0 };
    this.#counts.set(sandbox, count);
    return count;
  }

  /** Undefined for one that never had a network. */
  find(sandbox: string): Readonly<TrafficCount> | undefined {
    return this.#counts.get(sandbox);
  }

  /** Called when the sandbox is gone. */
  forget(sandbox: string): void {
    this.#counts.delete(sandbox);
  }
}
