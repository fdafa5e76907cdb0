import { GloveboxError } from "../../errors/glovebox-error.ts";

/** How long a failed list is not retried: 10 minutes. */
const keptMs = 600_000;
const maxKept = 500;

/** Recently failed installations, so that they do not repeatedly delay programs that can do without them. */
export class RecentFailures {
  readonly #now: () => number;
  readonly #errors = new Map<string, { readonly error: GloveboxError; readonly untilMs: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws what the installation throws, or threw a short time ago */
  async unlessRecent<T>(id: string, install: () => Promise<T>): Promise<T> {
    const known = this.#errors.get(id);
    if (known !== undefined && known.untilMs > this.#now()) throw known.error;
    this.#errors.delete(id);
    try {
      return await install();
    } catch (error) {
      if (error instanceof GloveboxError && error.errorType === "PACKAGE_INSTALL_FAILED") this.#keep(id, error);
      throw error;
    }
  }

  #keep(id: string, error: GloveboxError): void {
    const [oldest] = this.#errors.keys();
    if (this.#errors.size >= maxKept && oldest !== undefined) this.#errors.delete(oldest);
    this.#errors.set(id, { error, untilMs: this.#now() + keptMs });
  }
}
