import { createId } from "../base/id.ts";
import { RingOutput } from "../base/streams/collected-bytes.ts";
import { toGloveboxError, GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-contract.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import { Kept } from "../base/kept.ts";
import { settlesWithin } from "../base/abort.ts";

/** How a call ended: with the operation's response, or because the platform failed or refused. */
export type CallEnd = { readonly response: unknown } | { readonly error: GloveboxError };

/** How much of each stream's newest output is kept for queries before the end. */
const recentOutputBytes = 4096;

export interface RunningCallOptions<Answer> {
  /** Unguessable and unique; default: a new one. */
  readonly id?: string | undefined;
  /** Name of the operation. */
  readonly operation: string;
  readonly principal: string;
  /** Its caller's own word for it; default: none. */
  readonly name?: string | undefined;
  /** Labels that its caller gave it; default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly monotonicMs: () => number;
  /** Starts the work, which the signal aborts. */
  readonly work: (call: {
    readonly signal: AbortSignal;
    readonly onEvent: NonNullable<OperationCall["onEvent"]>;
  }) => Promise<unknown>;
  /** Converts the end into the front end's answer right away, since a full response may be large. */
  readonly conclude: (end: CallEnd, call: RunningCall<Answer>) => Answer;
}

/** A running operation, with what it has reported so far. */
export class RunningCall<Answer = unknown> {
  readonly id: string;
  readonly operation: string;
  readonly principal: string;
  readonly name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly stdout: RingOutput = new RingOutput(recentOutputBytes);
  readonly stderr: RingOutput = new RingOutput(recentOutputBytes);
  /** Resolves when the operation has ended and left nothing behind. */
  readonly ended: Promise<Answer>;
  /** Called at each event. */
  onNews: (() => void) | null = null;
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;
  readonly #giveUp = new AbortController();
  #endedMs: number | null = null;
  #sandboxId: string | null = null;
  #message: string | null = null;

  constructor({ id, operation, principal, name, labels, monotonicMs, work, conclude }: RunningCallOptions<Answer>) {
    this.id = id ?? createId("run");
    this.operation = operation;
    this.principal = principal;
    this.name = name ?? null;
    this.labels = labels ?? {};
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
    this.ended = work({ signal: this.#giveUp.signal, onEvent: (event) => this.#take(event) })
      .then((response) => conclude({ response }, this))
      .catch((error: unknown) => conclude({ error: toGloveboxError(error) }, this))
      .finally(() => (this.#endedMs = monotonicMs()));
  }

  /** Until now, or until its end. */
  get elapsedMs(): number {
    return (this.#endedMs ?? this.#monotonicMs()) - this.#startedMs;
  }

  /** The sandbox that works for it, once there is one. */
  get sandboxId(): string | null {
    return this.#sandboxId;
  }

  /** The latest progress that it reported. */
  get message(): string | null {
    return this.#message;
  }

  /** Whether it was asked to end. */
  get isCancelled(): boolean {
    return this.#giveUp.signal.aborted;
  }

  /** Ends the work; `ended` resolves when everything is gone. */
  cancel(): void {
    this.#giveUp.abort();
  }

  #take(event: OperationEvent): void {
    if (event.type === "output") this[event.stream].append(event.bytes);
    else if (event.type === "sandbox") this.#sandboxId = event.sandboxId;
    else if (event.type === "denied") this.#message = `Refused a connection to ${event.denial.target}`;
    else if (event.type !== "terminal") this.#message = event.message;
    this.onNews?.();
  }
}

/** How long a call's answer can be retrieved by its id. */
export const keptForMs: number = 15 * 60_000;
/** How many ended calls are kept per principal, and in total; whoever has most loses the oldest. */
const maxOfOne = 256;
const maxOfAll = 4096;

interface KeptCallsOptions<Answer> {
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

function keyOf({ id, principal }: Pick<RunningCall, "id" | "principal">): string {
  return JSON.stringify([principal, id]);
}
