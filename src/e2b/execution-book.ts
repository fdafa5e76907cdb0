import type { E2bSandbox } from "./e2b-sandbox.ts";

/** What is known of a context between its executions. */
export interface ContextRecord {
  /** How often it has been asked to run code. */
  count: number;
  /** What its next execution is to tell, because the client of the last one was gone. */
  untold: readonly string[];
}

/** The executions of every sandbox, by their context. */
export class ExecutionBook {
  readonly #ofSandbox = new Map<string, Map<string, ContextRecord>>();

  of({ id, ended }: E2bSandbox, context: string): ContextRecord {
    let records = this.#ofSandbox.get(id);
    if (records === undefined) {
      records = new Map();
      // Of one that has ended nothing is kept.
      if (!ended.aborted) this.#ofSandbox.set(id, records);
      ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    }
    const key = keyOf(context);
    const known = records.get(key) ?? { count: 0, untold: [] };
    records.set(key, known);
    return known;
  }

  /** The context begins anew, or is gone. */
  forget({ id }: E2bSandbox, context: string): void {
    this.#ofSandbox.get(id)?.delete(keyOf(context));
  }
}

/** JavaScript without a context runs in that of Bun, or of Node if the image has no Bun. */
function keyOf(context: string): string {
  return context === "node" ? "bun" : context;
}
