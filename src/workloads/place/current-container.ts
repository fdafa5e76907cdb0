import type { Sandbox } from "../../sandbox/sandbox.ts";

/** The current sandbox of a place, with everything that belongs to it. */
export interface PlaceContainer {
  readonly sandbox: Pick<Sandbox, "id" | "state">;
  remove(): Promise<void>;
}

/** The current container of a place: one after another, never two at a time. */
export class CurrentContainer<Container extends PlaceContainer> {
  #opening: Promise<Container> | null = null;
  #live: Container | null = null;

  /** The current one, in whatever state; null: there is none, or it is still starting. */
  get live(): Container | null {
    return this.#live;
  }

  /** The same, waiting for one that is starting. @throws why its start failed */
  get current(): Promise<Container | null> {
    return this.#opening ?? Promise.resolve(null);
  }

  /** Takes one that is being opened. @throws why that failed */
  open(opening: Promise<Container>): Promise<Container> {
    this.#opening = opening;
    this.#live = null;
    opening.then(
      (live) => {
        if (this.#opening === opening) this.#live = live;
      },
      () => {
        // The next caller that needs it gets the error.
      },
    );
    return opening;
  }

  /** A running one: a new one is opened if there is none, or if it could not be opened or was removed. */
  async present(open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const live = await asked?.catch(() => null);
    if (live?.sandbox.state === "running") return live;
    if (this.#opening === asked || this.#opening === null) return this.open(open());
    return this.#opening;
  }

  /** Replaces one by a new one, only once however many callers request it; the reason is for `onReplaced`. */
  async replace(gone: Container, open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const isPresent = (await asked?.catch(() => null)) === gone;
    if (this.#opening === null || (isPresent && this.#opening === asked)) {
      return this.open(gone.remove().then(open));
    }
    return this.#opening;
  }

  /** Removes it; then there is none. */
  async discard(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    this.#live = null;
    await (await opening?.catch(() => null))?.remove();
  }
}
