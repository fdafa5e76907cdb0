import { Kept } from "../base/kept.ts";
import type { RunningCall } from "./running-call.ts";

/** How long a call's answer can be retrieved by its id. */
export const keptForMs: number = 15 * 60_000;
/** How many ended calls are kept per principal, and in total; whoever has most loses the oldest. */
const maxOfOne = 256;
const maxOfAll = 4096;

export interface KeptCallsOptions<Answer> {
  readonly monotonicMs: () => number;
  /** Makes an answer smaller before it is counted; until then its call counts as running. Default: nothing. */
  readonly pack?: ((answer: Answer) => Promise<void>) | undefined;
  /** Size of an answer, in the unit of `maxSize`; default: 0. */
  readonly sizeOf?: ((answer: Answer) => number) | undefined;
  /** Of all answers of one principal together; default: no limit. */
  readonly maxSize?: number | undefined;
  /** Of all answers together; who holds most gives up its oldest first. Default: no limit. */
  readonly maxTotalSize?: number | undefined;
}

/** Calls that can be retrieved by their id: running ones, and for a while and within bounds those that have ended. */
export class KeptCalls<Answer> {
  readonly #options: KeptCallsOptions<Answer>;
  readonly #running = new Map<string, RunningCall<Answer>>();
  readonly #ended: Kept<RunningCall<Answer>>;

  constructor(options: KeptCallsOptions<Answer>) {
    const { monotonicMs: now, maxSize: maxSizeOfShare, maxTotalSize: maxSize } = options;
    this.#options = options;
    this.#ended = new Kept({ now, forMs: keptForMs, max: maxOfAll, maxOfShare: maxOfOne, maxSize, maxSizeOfShare });
  }

  /** From now on the call can be found. */
  keep(call: RunningCall<Answer>): void {
    const key = keyOf(call);
    if (this.find(call.id, call.principal) !== undefined) return;
    this.#running.set(key, call);
    void call.ended.then(async (answer) => {
      if (this.#options.pack !== undefined) await this.#options.pack(answer);
      // It may have been forgotten meanwhile.
      if (this.#running.get(key) !== call) return;
      this.#running.delete(key);
      this.#ended.set(key, call, { share: call.principal, size: this.#options.sizeOf?.(answer) ?? 0 });
    });
  }

  find(id: string, principal: string): RunningCall<Answer> | undefined {
    const key = keyOf({ id, principal });
    return this.#running.get(key) ?? this.#ended.get(key);
  }

  forget(call: RunningCall<Answer>): void {
    this.#running.delete(keyOf(call));
    this.#ended.delete(keyOf(call));
  }

  clear(): void {
    this.#running.clear();
    this.#ended.clear();
  }
}

function keyOf({ id, principal }: Pick<RunningCall, "id" | "principal">): string {
  return JSON.stringify([principal, id]);
}
