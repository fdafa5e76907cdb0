import type { Logger } from "../../../base/logger.ts";
import type { Housing } from "./environment-container.ts";

export interface HomeParts {
  /** Id of the environment, for the log. */
  readonly environment: string;
  readonly logger: Logger;
  readonly open: (signal: AbortSignal | undefined) => Promise<Housing>;
}

/** Where an environment lives: one container after another, never two at once. */
export class Home {
  readonly #parts: HomeParts;
  #housing: Promise<Housing>;

  constructor(parts: HomeParts, signal: AbortSignal | undefined) {
    this.#parts = parts;
    this.#housing = this.#open(signal);
  }

  /** The container of this moment, in whatever state it is. @throws what hindered its start */
  get current(): Promise<Housing> {
    return this.#housing;
  }

  /** A container that runs: one that could not be opened, or was removed, is opened anew. */
  async present(signal: AbortSignal): Promise<Housing> {
    const asked = this.#housing;
    const housing = await asked.catch(() => null);
    if (housing?.sandbox.state === "running") return housing;
    if (this.#housing === asked) this.#housing = this.#open(signal);
    return this.#housing;
  }

  /** Removes a container and opens another in its place, once however many ask for it. */
  async replace(gone: Housing, reason?: unknown): Promise<Housing> {
    const asked = this.#housing;
    const isPresent = (await asked.catch(() => null)) === gone;
    if (isPresent && this.#housing === asked) {
      const { environment, logger } = this.#parts;
      logger.warn(
        { sandbox: gone.sandbox.id, environment, err: reason },
        "the container of an environment is replaced",
      );
      this.#housing = this.#quietly(gone.remove().then(() => this.#parts.open(undefined)));
    }
    return this.#housing;
  }

  async remove(): Promise<void> {
    await (await this.#housing.catch(() => null))?.remove();
  }

  #open(signal: AbortSignal | undefined): Promise<Housing> {
    return this.#quietly(this.#parts.open(signal));
  }

  /** Whoever needs it next is told of its failure. */
  #quietly(opening: Promise<Housing>): Promise<Housing> {
    opening.catch(() => undefined);
    return opening;
  }
}
