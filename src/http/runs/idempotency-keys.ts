import { createHash } from "node:crypto";
import { mebibyte } from "../../base/bytes.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { HttpRun } from "./http-run.ts";

/** How long a key identifies its request: after that, the same key means a new one. */
const keptForMs = 24 * 3_600_000;
/** Maximum keys of one principal, and in total; the oldest is dropped first. */
const maxOfOne = 10_000;
const maxOfAll = 100_000;
/** Maximum size of answers kept for one principal's keys, in bytes as they are packed; of older ones only the id is kept. */
const maxAnswerSize = 16 * mebibyte;

interface KeyEntry {
  readonly principal: string;
  readonly fingerprint: string;
  readonly id: string;
  readonly atMs: number;
  /** Null: its answer was too large to keep. */
  run: HttpRun | null;
  /** Null while it is running. */
  size: number | null;
}

/** Requests by their clients' `Idempotency-Key`: each is done once, however often it is sent. */
export class IdempotencyKeys {
  readonly #monotonicMs: () => number;
  /** By principal and key, oldest first. */
  readonly #entries = new Map<string, KeyEntry>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
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
    const at = JSON.stringify([principal, key]);
    const fingerprint = createHash("sha256").update(JSON.stringify(request.content)).digest("base64");
    this.#forgetOld();
    const known = this.#entries.get(at);
    // A run that ended because its client disconnected is started again when the client returns.
    if (known !== undefined && known.run?.isAbandoned !== true) return runOf(known, fingerprint);
    const run = begin();
    const entry: KeyEntry = { principal, fingerprint, id: run.call.id, atMs: this.#monotonicMs(), run, size: null };
    this.#entries.delete(at);
    this.#entries.set(at, entry);
    void run.call.ended.then(async (answer) => {
      await answer.pack();
      entry.size = answer.size;
      this.#dropAnswers(principal);
    });
    return run;
  }

  #forgetOld(): void {
    const oldest = this.#monotonicMs() - keptForMs;
    const counts = new Map<string, number>();
    for (const { principal } of this.#entries.values()) counts.set(principal, (counts.get(principal) ?? 0) + 1);
    for (const [at, { atMs, principal }] of this.#entries) {
      const count = counts.get(principal) ?? 0;
      if (atMs >= oldest && count < maxOfOne && this.#entries.size < maxOfAll) continue;
      this.#entries.delete(at);
      counts.set(principal, count - 1);
    }
  }

  #dropAnswers(principal: string): void {
    let size = 0;
    for (const entry of [...this.#entries.values()].toReversed()) {
      if (entry.principal !== principal || entry.size === null || entry.run === null) continue;
      size += entry.size;
      if (size > maxAnswerSize) entry.run = null;
    }
  }
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
