import { mebibyte } from "../../base/bytes.ts";
import type { RunningCall } from "../../calls/running-call.ts";
import { RunningCalls } from "../../calls/running-calls.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OperationCall, OperationContract } from "../../operations/contract/operation-contract.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Caller } from "../caller.ts";
import { answerOf, answerOfError } from "../server/wire-answer.ts";
import { HttpRun } from "./http-run.ts";
import { createSandboxId } from "./own-sandbox.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";
import { KeptAnswer } from "./kept-answer.ts";

/** Maximum size of the answers kept for one principal, for queries by id, in bytes as they are packed. */
const maxAnswerSize = 64 * mebibyte;
/** Of those kept for all principals together: many keys must not fill the server's memory. */
const maxTotalSize = 128 * mebibyte;

/** What is known of the sandbox in which a run began. */
export type RunPlace = ReturnType<Platform["sandboxes"]["recordsOf"]>[number];

/** A request and its principal. */
export interface RunRequest {
  readonly contract: OperationContract;
  /** Checked. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  /** The client's idempotency key for this request; undefined: none. */
  readonly key: string | undefined;
  /** What the client sends while it works. */
  readonly streams?: Pick<OperationCall, "stdin" | "sizes" | "signals"> | undefined;
  /** Receives the events while it is running. */
  readonly onEvent?: OperationCall["onEvent"];
}

/** The runs of all clients of this server: running ones, and for a while those that have ended. */
export class HttpRuns {
  readonly calls: RunningCalls<KeptAnswer>;
  readonly #platform: Platform;
  readonly #keys: IdempotencyKeys;
  readonly #runs = new WeakMap<RunningCall<KeptAnswer>, HttpRun>();

  /** By call, from its program's start on: the sandbox may be gone before the answer is, or do something else by then. */
  readonly #places = new WeakMap<RunningCall, RunPlace>();

  /** Those that can be queried by their id. */
  readonly #listed = new WeakSet<RunningCall<KeptAnswer>>();

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#keys = new IdempotencyKeys(platform.monotonicMs);
    const kept = { pack: (answer: KeptAnswer) => answer.pack(), sizeOf: ({ size }: KeptAnswer) => size };
    const bounds = { ...kept, maxSize: maxAnswerSize, maxTotalSize };
    this.calls = new RunningCalls(platform.monotonicMs, bounds);
  }

  /**
   * Starts a run, or joins the one that an earlier request with the same key started.
   * @throws CAPACITY, INVALID_REQUEST, ALREADY_EXISTS
   */
  begin(asked: RunRequest): HttpRun {
    const { key, caller, contract, request } = asked;
    if (key === undefined) return this.#start(asked);
    const content = [contract.name, request];
    return this.#keys.once(key, { principal: caller.principal, content }, () => this.#start(asked));
  }

  /** The principal's run. @throws NOT_FOUND also for another principal's */
  find(id: string, principal: string): HttpRun | null {
    try {
      return this.#runs.get(this.calls.find(id, principal)) ?? null;
    } catch (error) {
      if (error instanceof GloveboxError) return null;
      throw error;
    }
  }

  /** The principal's running ones that may take long, in the order in which they began. */
  working(principal: string): readonly RunningCall<KeptAnswer>[] {
    return this.calls.working(principal).filter((call) => this.#listed.has(call));
  }

  /** The sandbox of a run as it was when its program began; null before that. */
  placeOf(call: RunningCall): RunPlace | null {
    return this.#places.get(call) ?? null;
  }

  /** From now on it can be queried by its id, whatever it is. */
  keep({ call }: HttpRun): void {
    this.calls.keep(call);
  }

  /** Ends a run; resolves when it has its answer. */
  async end({ call }: HttpRun): Promise<void> {
    call.cancel();
    await call.ended;
  }

  /** Ends a run and forgets it. */
  async remove(run: HttpRun): Promise<void> {
    await this.end(run);
    this.calls.forget(run.call);
  }

  #remember(call: RunningCall, sandboxId: string): void {
    const place = this.#platform.sandboxes.recordsOf(call.principal).find(({ id }) => id === sandboxId);
    if (place !== undefined) this.#places.set(call, place);
  }

  #start({ contract, request, caller, streams, onEvent }: RunRequest): HttpRun {
    const { call: callOperation, logger, monotonicMs } = this.#platform;
    const sandboxId = contract.freshSandbox === true ? createSandboxId() : undefined;
    const call = this.calls.start({
      id: sandboxId,
      operation: contract.name,
      principal: caller.principal,
      name: request["name"] as string | undefined,
      labels: request["labels"] as Readonly<Record<string, string>> | undefined,
      monotonicMs,
      work: async (own) => {
        // No event is sent before the caller has the result of `begin`.
        await Promise.resolve();
        const tell: OperationCall["onEvent"] = async (event) => {
          // First: a moment later the sandbox may do something else beside it.
          if (event.type === "sandbox") this.#remember(call, event.sandboxId);
          await own.onEvent(event);
          await onEvent?.(event);
        };
        const ids = { sandboxId, runId: sandboxId === undefined ? call.id : undefined };
        return callOperation(contract, request, { ...caller, ...streams, ...ids, signal: own.signal, onEvent: tell });
      },
      conclude: (end) => {
        if (!("error" in end)) return new KeptAnswer(answerOf(end.response));
        if (end.error.errorType === "INTERNAL") {
          logger.error({ err: end.error.cause ?? end.error }, "an HTTP request failed");
        }
        return new KeptAnswer(answerOfError(end.error));
      },
    });
    const run = new HttpRun(call);
    this.#runs.set(call, run);
    if (contract.tool?.mayTakeLong === true) {
      this.#listed.add(call);
      this.calls.keep(call);
    }
    return run;
  }
}
