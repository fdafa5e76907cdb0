import { mebibyte } from "../base/bytes.ts";
import { Kept } from "../base/kept.ts";
import type { RunName } from "./stored-records.ts";
import type { Store } from "./store.ts";

/** Bytes of all reports that are kept in memory; beyond it whoever has most loses the oldest. */
const maxMemoryBytes = 16 * mebibyte;

/** Full test reports, compressed: in the store, or in memory if there is none. */
export class TestReports {
  readonly #store: Pick<Store, "add" | "runs"> | null;
  readonly #now: () => number;
  readonly #kept = new Kept<{ readonly principal: string; readonly report: Uint8Array }>({ maxSize: maxMemoryBytes });

  constructor(store: Pick<Store, "add" | "runs"> | null, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Keeps the report of a sandbox's tests, as gzip has made it. */
  keep({ id, principal }: RunName, report: Uint8Array): void {
    if (this.#store === null) {
      this.#kept.set(id, { principal, report }, { share: principal, size: report.length });
      return;
    }
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
}
