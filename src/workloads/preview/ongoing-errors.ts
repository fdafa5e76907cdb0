import type { PreviewError } from "./errors/error-scanner.ts";
import type { PreviewAlertListener } from "./preview-parts.ts";

/** A stack trace without another for this long counts as over: the program continues, or has ended. */
const stackOverMs = 10_000;
/** Maximum errors reported per preview and minute: a program can print what it likes. */
const maxPerMinute = 20;

/** The current problem of a preview, reported once when it starts and once when it is over. */
export class OngoingErrors {
  readonly #sandbox: string;
  readonly #listener: PreviewAlertListener;
  readonly #monotonicMs: () => number;
  #current: PreviewError | null = null;
  #isTold = false;
  #over: NodeJS.Timeout | undefined;
  #toldAtMs: number[] = [];

  constructor(sandbox: string, listener: PreviewAlertListener, monotonicMs: () => number) {
    this.#sandbox = sandbox;
    this.#listener = listener;
    this.#monotonicMs = monotonicMs;
  }

  /** The newest that is not over. */
  get current(): PreviewError | null {
    return this.#current;
  }

  failed(error: PreviewError): void {
    const isSame = this.#current !== null && keyOf(this.#current) === keyOf(error);
    this.#current = error;
    clearTimeout(this.#over);
    if (error.nature === "stack") this.#over = setTimeout(() => this.recovered(), stackOverMs).unref();
    if (isSame || !this.#mayTell()) return;
    this.#isTold = true;
    this.#listener.failed(this.#sandbox, error);
  }

  /** Nothing is wrong any more, as far as known. */
  recovered(): void {
    clearTimeout(this.#over);
    this.#current = null;
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#listener.recovered(this.#sandbox);
  }

  #mayTell(): boolean {
    const nowMs = this.#monotonicMs();
    this.#toldAtMs = this.#toldAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#toldAtMs.length >= maxPerMinute) return false;
    this.#toldAtMs.push(nowMs);
    return true;
  }
}

function keyOf({ nature, summary, place }: PreviewError): string {
  return JSON.stringify([nature, summary.replace(/^\d{1,2}:\d{2}:\d{2}(?: [AP]M)? /, ""), place]);
}
