import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createDeflate, inflate } from "node:zlib";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import { LongJson, answerOf, answerOfError, type WireAnswer } from "./http-answer.ts";
import { RunningCalls, type RunningCall } from "../calls/running-calls.ts";
import { createId } from "../base/id.ts";
import { createHash } from "node:crypto";
import { Kept } from "../base/kept.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { OperationCall, OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
import type { Caller } from "./caller.ts";

const decompress = promisify(inflate);

/** Shorter ones, in characters, take hardly any memory. */
const packedFrom = 16 * kibibyte;

/**
 * The answer of a run, which is kept for a while after its end: what a program prints without end compresses to a
 * hundredth, and only whoever asks for it once more pays for that.
 */
export class KeptAnswer {
  readonly isError: boolean;
  readonly #head: Omit<WireAnswer, "body">;
  #body: WireAnswer["body"] | Buffer;
  #packing: Promise<void> | undefined;

  constructor({ body, ...head }: WireAnswer) {
    this.#head = head;
    this.#body = body;
    this.isError = head.isError;
  }

  /** What is held of it: characters, or bytes of a long one and once it is packed. */
  get size(): number {
    return sizeOf(this.#body);
  }

  async read(): Promise<WireAnswer> {
    const held = this.#body;
    return { ...this.#head, body: Buffer.isBuffer(held) ? (await decompress(held)).toString("utf8") : held };
  }

  /** Compresses a long one, off the main thread; those who read it meanwhile have it at once. Never rejects. */
  pack(): Promise<void> {
    this.#packing ??= this.#pack().catch(() => {
      // It stays as it is: there is no memory to compress it in.
    });
    return this.#packing;
  }

  async #pack(): Promise<void> {
    const body = this.#body;
    if (Buffer.isBuffer(body) || sizeOf(body) < packedFrom) return;
    const parts = typeof body === "string" ? [body] : body.parts();
    const deflate = createDeflate({ level: constants.Z_BEST_SPEED });
    const [packed] = await Promise.all([buffer(deflate), pipeline(Readable.from(parts), deflate)]);
    if (packed.length < sizeOf(body)) this.#body = packed;
  }
}

/** A run and the clients that wait for it: when the last one disconnects it is ended, unless it is detached. */
export class HttpRun {
  readonly call: RunningCall<KeptAnswer>;
  #waiting = 0;
  #goesOn = false;
  #hasEnded = false;
  #isAbandoned = false;

  constructor(call: RunningCall<KeptAnswer>) {
    this.call = call;
    void call.ended.then(() => (this.#hasEnded = true));
  }

  /** Resolves when it has ended. */
  async answer(): Promise<WireAnswer> {
    return (await this.call.ended).read();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether every client disconnected before the end. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** It no longer depends on clients. */
  goOn(): void {
    this.#goesOn = true;
  }

  /** Another client waits, until the signal reports that it has disconnected. */
  join(gone: AbortSignal): void {
    this.#waiting += 1;
    const leave = (): void => {
      this.#waiting -= 1;
      if (this.#waiting > 0 || this.#goesOn || this.#hasEnded) return;
      this.#isAbandoned = true;
      this.call.cancel();
    };
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave, { once: true });
  }
}

const prefix = "sbx";

/** Whether a run has the id of its own sandbox. */
export function isOfOwnSandbox({ id }: Pick<RunningCall, "id">): boolean {
  return id.startsWith(`${prefix}-`);
}

/** How long a key identifies its request: after that, the same key means a new one. */
const keptForMs = 24 * 3_600_000;
/** Maximum keys of one principal, whose oldest is dropped first. */
const maxOfOne = 10_000;
/** Maximum keys of all; beyond it whoever has most loses the oldest. */
const maxOfAll = 100_000;
/**
 * Maximum size of answers kept for one principal's keys, in bytes as they are packed; of older ones only the id is kept. Of all
 * together beyond the total whoever has most loses the oldest.
 */
const maxAnswerSize = 16 * mebibyte;
const maxTotalSize = 64 * mebibyte;
/** What a kept run takes beside its answer and its newest output. */
const runSize = kibibyte;

interface KeyEntry {
  readonly fingerprint: string;
  readonly id: string;
  /** Null: it has ended, and its answer is kept beside it, or no longer. */
  running: HttpRun | null;
}

interface IdempotencyLimits {
  readonly maxOfOne: number;
  readonly maxOfAll: number;
  readonly maxAnswerSize: number;
  readonly maxTotalSize: number;
}

/** Requests by their clients' `Idempotency-Key`: each is done once, however often it is sent. */
export class IdempotencyKeys {
  readonly #keys: Kept<KeyEntry>;
  readonly #answers: Kept<HttpRun>;

  constructor(monotonicMs: () => number, limits: Partial<IdempotencyLimits> = {}) {
    const bounds = { maxOfOne, maxOfAll, maxAnswerSize, maxTotalSize, ...limits };
    this.#answers = new Kept({ maxSize: bounds.maxTotalSize, maxSizeOfShare: bounds.maxAnswerSize });
    this.#keys = new Kept({
      now: monotonicMs,
      forMs: keptForMs,
      max: bounds.maxOfAll,
      maxOfShare: bounds.maxOfOne,
      onDrop: (name) => this.#answers.delete(name),
    });
  }

  /**
   * The run of an earlier request with that key, or the new one that `begin` starts.
   * @throws INVALID_REQUEST if the key was used for a different request, ALREADY_EXISTS if the answer is no longer kept
   */
  once(key: string, request: { readonly principal: string; readonly content: unknown }, begin: () => HttpRun): HttpRun {
    const { principal } = request;
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalidField("Idempotency-Key", "1 to 255 visible ASCII characters", key);
    }
    const fingerprint = createHash("sha256").update(JSON.stringify(request.content)).digest("base64");
    const name = JSON.stringify([principal, key]);
    const known = this.#keys.get(name);
    const earlier = known?.running ?? this.#answers.get(name) ?? null;
    // A run that ended because its client disconnected is started again when the client returns.
    if (known !== undefined && earlier?.isAbandoned !== true) return runOf(known, earlier, fingerprint);
    const run = begin();
    const entry: KeyEntry = { fingerprint, id: run.call.id, running: run };
    this.#keys.set(name, entry, { share: principal });
    void run.call.ended.then(async (answer) => {
      await answer.pack();
      // It may have been dropped meanwhile.
      if (this.#keys.get(name) !== entry) return;
      entry.running = null;
      const { stdout, stderr } = run.call;
      this.#answers.set(name, run, {
        share: principal,
        size: answer.size + runSize + stdout.keptBytes + stderr.keptBytes,
      });
    });
    return run;
  }
}

/** Maximum size of the answers kept for one principal, for queries by id, in bytes as they are packed. */
const maxLiveAnswerSize = 64 * mebibyte;
/** Of those kept for all principals together: many keys must not fill the server's memory. */
const maxLiveTotalSize = 128 * mebibyte;

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
    const bounds = { ...kept, maxSize: maxLiveAnswerSize, maxTotalSize: maxLiveTotalSize };
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

function sizeOf(body: WireAnswer["body"] | Buffer): number {
  return typeof body === "string" ? body.length : body instanceof LongJson ? body.byteLength : body.length;
}

/** An id for a run and its fresh sandbox, known before there is capacity for it (SPEC EX3). */
function createSandboxId(): string {
  return createId(prefix);
}

function runOf({ id, fingerprint }: KeyEntry, run: HttpRun | null, asked: string): HttpRun {
  if (asked !== fingerprint) {
    throw new GloveboxError("INVALID_REQUEST", "Idempotency-Key: already used for a different request.", {
      suggestion: "Use a new key for each request; repeat a key only to retry the same request.",
      context: { field: "Idempotency-Key", id },
    });
  }
  if (run !== null) return run;
  throw new GloveboxError("ALREADY_EXISTS", "This request was already executed, and its answer is no longer kept.", {
    suggestion: "Do not retry it; look up the run by its id.",
    context: { id },
  });
}
