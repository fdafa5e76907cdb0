import { settlesWithin } from "../base/abort.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { KeptCalls, type KeptCallsOptions } from "./kept-calls.ts";
import { RunningCall, type RunningCallOptions } from "./running-call.ts";

/**
 * Maximum running calls of one front end, most of which wait, and of one principal. Nobody takes more than half of what is
 * left, so that a dozen keys which start all they may leave room for another.
 */
const maxCalls = 2_048;
const maxOfPrincipal = 192;

/** The running calls, so that they can be retrieved by id and ended together. */
export class RunningCalls<Answer = unknown> {
  readonly #working = new Set<RunningCall<Answer>>();
  readonly #kept: KeptCalls<Answer>;
  #state: "open" | "draining" | "closed" = "open";

  constructor(monotonicMs: () => number, bounds: Omit<KeptCallsOptions<Answer>, "monotonicMs"> = {}) {
    this.#kept = new KeptCalls({ monotonicMs, ...bounds });
  }

  /** @throws CAPACITY also after `drain`, CANCELLED after `close` */
  start(options: RunningCallOptions<Answer>): RunningCall<Answer> {
    if (this.#state === "closed") throw new GloveboxError("CANCELLED", "Glovebox is shutting down.");
    if (this.#state === "draining") throw isEnding();
    if (this.#working.size >= maxCalls) {
      throw new GloveboxError("CAPACITY", `${maxCalls} calls are already running.`, { context: { limit: maxCalls } });
    }
    const left = Math.floor((maxCalls - this.#working.size) / 2);
    const limit = Math.min(maxOfPrincipal, left);
    const own = this.working(options.principal).length;
    if (own >= limit) {
      throw new GloveboxError("CAPACITY", `${own} of your calls are already running.`, { context: { limit } });
    }
    const call = new RunningCall<Answer>(options);
    this.#working.add(call);
    void call.ended.then(() => this.#working.delete(call));
    return call;
  }

  /** From now on the call can be retrieved by its id. */
  keep(call: RunningCall<Answer>): void {
    this.#kept.keep(call);
  }

  /** The principal's running calls, in the order in which they began. */
  working(principal: string): readonly RunningCall<Answer>[] {
    return [...this.#working].filter((call) => call.principal === principal);
  }

  /** The principal's call. @throws NOT_FOUND also for another principal's */
  find(id: string, principal: string): RunningCall<Answer> {
    const call = this.#kept.find(id, principal);
    if (call !== undefined) return call;
    throw new GloveboxError("NOT_FOUND", `No call has the run_id ${JSON.stringify(id.slice(0, 80))}.`, {
      suggestion:
        "Answers are kept for 15 minutes, and not across server restarts. Call the tool again with its arguments.",
      context: { run_id: id.slice(0, 80) },
    });
  }

  /** Ends the calls of a principal. */
  cancelAll(principal: string): void {
    for (const call of this.working(principal)) call.cancel();
  }

  /** The call can no longer be retrieved. */
  forget(call: RunningCall<Answer>): void {
    this.#kept.forget(call);
  }

  /** Refuses new calls, and waits at most this long for the running ones to end. */
  async drain(withinMs: number): Promise<void> {
    if (this.#state === "open") this.#state = "draining";
    await settlesWithin(Promise.all([...this.#working].map(({ ended }) => ended)), withinMs);
  }

  /** Ends every call and refuses new ones; resolves when they are gone. */
  async close(): Promise<void> {
    this.#state = "closed";
    const working = [...this.#working];
    for (const call of working) call.cancel();
    await Promise.all(working.map(({ ended }) => ended));
    this.#kept.clear();
  }
}

/** The error for new work while the server shuts down. */
export function isEnding(): GloveboxError {
  return new GloveboxError("CAPACITY", "The server is shutting down and accepts no new work.", {
    suggestion: "Retry in a few seconds, when this server is back, or use another one.",
    context: { retry_after_seconds: 5 },
  });
}
