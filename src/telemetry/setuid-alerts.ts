import type { ClearedFiles } from "../sandbox/cleared-files.ts";
import type { Alert, AlertListener } from "./alert.ts";

const suggestion =
  "A setuid file gives every user of this machine its owner's rights for as long as it has the bit: find out what set it, and destroy the environment if nothing should have.";

/** Makes alerts of setuid bits that were taken of a project's files; they end with the sandbox. */
export class SetuidAlerts {
  readonly #counts = new Map<string, number>();
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  cleared(sandbox: string, { count, names }: ClearedFiles): void {
    this.#counts.set(sandbox, (this.#counts.get(sandbox) ?? 0) + count);
    const shown = names.map((name) => JSON.stringify(name.slice(-100))).join(", ");
    this.#tell(this.#alert(sandbox, "start", count, `${bits(count)}: ${shown}${count > names.length ? ", ..." : ""}.`));
  }

  ended(sandbox: string): void {
    const count = this.#counts.get(sandbox);
    if (count === undefined || !this.#counts.delete(sandbox)) return;
    this.#tell(this.#alert(sandbox, "end", count, `${bits(count)} in all.`));
  }

  #alert(sandbox: string, state: Alert["state"], value: number, message: string): Alert {
    return {
      container_id: sandbox,
      timestamp: new Date(this.#now()).toISOString(),
      kind: "setuid_files",
      value,
      threshold: 0,
      state,
      message,
      suggestion,
    };
  }
}

function bits(count: number): string {
  return `The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project`;
}
