import { settlesWithin } from "../base/abort.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { KeptCalls, type KeptCallsOptions } from "./kept-calls.ts";
import { RunningCall, type RunningCallOptions } from "./running-call.ts";

/** Calls that one door holds at most, and those of one principal among them: the rest is for others. */
const maxCalls = 256;
const maxOfPrincipal = 192;

/** The calls at work, so that they can be asked for again by their id and ended together. */
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
    if (this.working(options.principal).length >= maxOfPrincipal) {
      throw new GloveboxError("CAPACITY", `${maxOfPrincipal} of your calls are already running.`, {
        context: { limit: maxOfPrincipal },
      });
    }
    const call = new RunningCall<Answer>(options);
    this.#working.add(call);
    void call.ended.then(() => this.#working.delete(call));
    return call;
  }

  /** From now on the call can be asked for by its id. */
  keep(call: RunningCall<Answer>): void {
    this.#kept.keep(call);
  }

  /** The principal's at work, in the order of their begin. */
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

  /** The call cannot be asked for any more. */
  forget(call: RunningCall<Answer>): void {
    this.#kept.forget(call);
  }

  /** Begins no further call, and waits at most so long until those at work have ended. */
  async drain(withinMs: number): Promise<void> {
    if (this.#state === "open") this.#state = "draining";
    await settlesWithin(Promise.all([...this.#working].map(({ ended }) => ended)), withinMs);
  }

  /** Ends every call and begins no other; resolves when they are gone. */
  async close(): Promise<void> {
    this.#state = "closed";
    const working = [...this.#working];
    for (const call of working) call.cancel();
    await Promise.all(working.map(({ ended }) => ended));
    this.#kept.clear();
  }
}

/** What new work is told while the server ends. */
export function isEnding(): GloveboxError {
  return new GloveboxError("CAPACITY", "The server is shutting down and accepts no new work.", {
    suggestion: "Retry in a few seconds, when this server is back, or use another one.",
    context: { retry_after_seconds: 5 },
  });
}
