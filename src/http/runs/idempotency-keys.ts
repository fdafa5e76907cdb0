import { createHash } from "node:crypto";
import { kibibyte, mebibyte } from "../../base/bytes.ts";
import { Kept } from "../../base/kept.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { HttpRun } from "./http-run.ts";

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

export interface IdempotencyLimits {
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
