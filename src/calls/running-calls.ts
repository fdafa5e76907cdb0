import { GloveboxError } from "../errors/glovebox-error.ts";
import { RunningCall, type RunningCallOptions } from "./running-call.ts";

/** Calls that one door holds at most. */
const maxCalls = 256;
/** How long the answer of a call can be asked for by its id. */
const keptForMs = 15 * 60_000;

/** A call that its caller was told the id of. */
interface KnownCall<Answer> {
  readonly call: RunningCall<Answer>;
  /** On the monotonic clock; null while it works. */
  endedMs: number | null;
}

/** The calls at work, so that they can be asked for again by their id and ended together. */
export class RunningCalls<Answer = unknown> {
  readonly #monotonicMs: () => number;
  readonly #working = new Set<RunningCall<Answer>>();
  readonly #known = new Map<string, KnownCall<Answer>>();
  #isClosed = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** @throws CAPACITY, CANCELLED after `close` */
  start(options: RunningCallOptions<Answer>): RunningCall<Answer> {
    if (this.#isClosed) throw new GloveboxError("CANCELLED", "Glovebox is shutting down.");
    if (this.#working.size >= maxCalls) {
      throw new GloveboxError("CAPACITY", `${maxCalls} calls are at work already.`, { context: { limit: maxCalls } });
    }
    const call = new RunningCall<Answer>(options);
    this.#working.add(call);
    void call.ended.then(() => {
      this.#working.delete(call);
      const known = this.#known.get(call.id);
      if (known !== undefined) known.endedMs = this.#monotonicMs();
    });
    return call;
  }

  /** From now on the call can be asked for by its id. */
  keep(call: RunningCall<Answer>): void {
    if (!this.#known.has(call.id)) this.#known.set(call.id, { call, endedMs: null });
    this.#forgetOld();
  }

  /** The principal's call. @throws NOT_FOUND also for another principal's */
  find(id: string, principal: string): RunningCall<Answer> {
    this.#forgetOld();
    const call = this.#known.get(id)?.call;
    if (call !== undefined && call.principal === principal) return call;
    throw new GloveboxError("NOT_FOUND", `No call has the run_id ${JSON.stringify(id.slice(0, 80))}.`, {
      suggestion:
        "Its answer is kept for 15 minutes, and ends with the server. Call the tool again with its arguments.",
      context: { run_id: id.slice(0, 80) },
    });
  }

  /** Ends every call and begins no other; resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const working = [...this.#working];
    for (const call of working) call.cancel();
    await Promise.all(working.map(({ ended }) => ended));
    this.#known.clear();
  }

  #forgetOld(): void {
    const endedBefore = this.#monotonicMs() - keptForMs;
    for (const [id, { endedMs }] of this.#known) {
      const isOld = endedMs !== null && endedMs < endedBefore;
      if (isOld || (endedMs !== null && this.#known.size > maxCalls)) this.#known.delete(id);
    }
  }
}
