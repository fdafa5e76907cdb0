import { mebibyte } from "../base/bytes.ts";
import { excessOf } from "./retention.ts";
import type { RunName } from "./read-runs.ts";
import type { Store } from "./store.ts";

/** Bytes of all reports that are kept in memory; beyond it whoever has most loses the oldest. */
const maxMemoryBytes = 16 * mebibyte;

/** Full test reports, compressed: in the store, or in memory if there is none. */
export class TestReports {
  readonly #store: Pick<Store, "add" | "runs"> | null;
  readonly #now: () => number;
  /** The oldest first. */
  readonly #kept = new Map<string, { readonly principal: string; readonly report: Uint8Array }>();

  constructor(store: Pick<Store, "add" | "runs"> | null, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Keeps the report of a sandbox's tests, as gzip has made it. */
  keep({ id, principal }: RunName, report: Uint8Array): void {
    if (this.#store === null) return this.#remember(id, principal, report);
    const text = Buffer.from(report).toString("base64");
    const row = { sandbox: id, principal, stamp_ms: this.#now(), report: text, size: text.length };
    this.#store.add({ kind: "test_report", row });
  }

  /** Null: none is kept of that sandbox and that principal. @throws INTERNAL when the store does not answer */
  async find(name: RunName): Promise<Uint8Array | null> {
    if (this.#store !== null) {
      const text = await this.#store.runs.testReport(name);
      return text === null ? null : Buffer.from(text, "base64");
    }
    const found = this.#kept.get(name.id);
    return found?.principal === name.principal ? found.report : null;
  }

  #remember(id: string, principal: string, report: Uint8Array): void {
    this.#kept.set(id, { principal, report });
    const totals = new Map<string, number>();
    for (const { principal: owner, report: each } of this.#kept.values())
      totals.set(owner, (totals.get(owner) ?? 0) + each.length);
    const excess = excessOf(
      [...totals].map(([owner, total]) => ({ principal: owner, total })),
      maxMemoryBytes,
    );
    for (const [oldest, { principal: owner, report: each }] of this.#kept) {
      const more = excess.get(owner) ?? 0;
      if (more <= 0) continue;
      this.#kept.delete(oldest);
      excess.set(owner, more - each.length);
    }
  }
}
