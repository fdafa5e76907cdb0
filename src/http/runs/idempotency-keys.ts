import { createHash } from "node:crypto";
import { kibibyte, mebibyte } from "../../base/bytes.ts";
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
  readonly atMs: number;
  /** Null: its answer is no longer kept. */
  run: HttpRun | null;
  /** Null while it is running. */
  size: number | null;
}

/** What one principal has. */
interface Holding {
  /** By key, oldest first. */
  readonly entries: Map<string, KeyEntry>;
  /** Of the answers. */
  size: number;
}

export interface IdempotencyLimits {
  readonly maxOfOne: number;
  readonly maxOfAll: number;
  readonly maxAnswerSize: number;
  readonly maxTotalSize: number;
}

/** Requests by their clients' `Idempotency-Key`: each is done once, however often it is sent. */
export class IdempotencyKeys {
  readonly #monotonicMs: () => number;
  readonly #limits: IdempotencyLimits;
  /** By principal. */
  readonly #holdings = new Map<string, Holding>();

  constructor(monotonicMs: () => number, limits: Partial<IdempotencyLimits> = {}) {
    this.#monotonicMs = monotonicMs;
    this.#limits = { maxOfOne, maxOfAll, maxAnswerSize, maxTotalSize, ...limits };
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
    this.#forgetOld();
    const known = this.#holdings.get(principal)?.entries.get(key);
    // A run that ended because its client disconnected is started again when the client returns.
    if (known !== undefined && known.run?.isAbandoned !== true) return runOf(known, fingerprint);
    const run = begin();
    this.#forget(principal, key);
    const holding = this.#holdings.get(principal) ?? { entries: new Map<string, KeyEntry>(), size: 0 };
    this.#holdings.set(principal, holding);
    const entry: KeyEntry = { fingerprint, id: run.call.id, atMs: this.#monotonicMs(), run, size: null };
    holding.entries.set(key, entry);
    this.#dropKeys(principal, holding);
    void run.call.ended.then(async (answer) => {
      await answer.pack();
      // It may have been dropped meanwhile.
      if (holding.entries.get(key) === entry) this.#count(holding, entry, answer.size);
    });
    return run;
  }

  #forgetOld(): void {
    const oldest = this.#monotonicMs() - keptForMs;
    for (const [principal, { entries }] of this.#holdings) {
      for (const [key, { atMs }] of entries) {
        if (atMs >= oldest) break;
        this.#forget(principal, key);
      }
    }
  }

  /** After a new key of the principal: one too many of its own, or of whoever has most. */
  #dropKeys(principal: string, { entries }: Holding): void {
    const own = entries.keys().next().value;
    if (entries.size > this.#limits.maxOfOne && own !== undefined) this.#forget(principal, own);
    let count = 0;
    let most: readonly [string, Holding] | undefined;
    for (const each of this.#holdings) {
      count += each[1].entries.size;
      if (each[1].entries.size > (most?.[1].entries.size ?? 0)) most = each;
    }
    const oldest = most?.[1].entries.keys().next().value;
    if (count > this.#limits.maxOfAll && most !== undefined && oldest !== undefined) this.#forget(most[0], oldest);
  }

  #forget(principal: string, key: string): void {
    const holding = this.#holdings.get(principal);
    const entry = holding?.entries.get(key);
    if (holding === undefined || entry === undefined) return;
    holding.entries.delete(key);
    holding.size -= entry.run === null ? 0 : (entry.size ?? 0);
    if (holding.entries.size === 0) this.#holdings.delete(principal);
  }

  /** Counts the answer of a run that has ended, and keeps all within the limits. */
  #count(holding: Holding, entry: KeyEntry, answerSize: number): void {
    const { stdout, stderr } = entry.run?.call ?? {};
    const size = answerSize + runSize + (stdout?.keptBytes ?? 0) + (stderr?.keptBytes ?? 0);
    entry.size = size;
    // Alone it is too much: older ones stay.
    if (size > this.#limits.maxAnswerSize) {
      entry.run = null;
      return;
    }
    holding.size += size;
    while (holding.size > this.#limits.maxAnswerSize && dropAnswer(holding)) {
      // The oldest of its own.
    }
    for (;;) {
      const holdings = [...this.#holdings.values()];
      const total = holdings.reduce((sum, each) => sum + each.size, 0);
      if (total <= this.#limits.maxTotalSize) return;
      if (!dropAnswer(holdings.reduce((one, other) => (other.size > one.size ? other : one)))) return;
    }
  }
}

/** Drops the oldest answer; false: there is none. */
function dropAnswer(holding: Holding): boolean {
  for (const entry of holding.entries.values()) {
    if (entry.size === null || entry.run === null) continue;
    holding.size -= entry.size;
    entry.run = null;
    return true;
  }
  return false;
}

function runOf({ run, id, fingerprint }: KeyEntry, asked: string): HttpRun {
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
