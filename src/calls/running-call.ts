import { createId } from "../base/id.ts";
import { RingOutput } from "../base/streams/collected-bytes.ts";
import { toGloveboxError, type GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-contract.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";

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
