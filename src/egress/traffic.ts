/** Bytes that a sandbox has exchanged with its egress proxy, all its connections together. */
export interface TrafficCount {
  receivedBytes: number;
  sentBytes: number;
}

/** The traffic of the sandboxes that have had a network. Sandboxes have no other way out, so that it is all of theirs. */
export class Traffic {
  readonly #counts = new Map<string, TrafficCount>();

  /** The count of a sandbox, begun where there is none; kept until `forget`. */
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

  /** To be called when the sandbox is gone. */
  forget(sandbox: string): void {
    this.#counts.delete(sandbox);
  }
}
