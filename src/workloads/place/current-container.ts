import type { Sandbox } from "../../sandbox/sandbox.ts";

/** What a place has at one time: a sandbox with all that goes with it. */
export interface PlaceContainer {
  readonly sandbox: Pick<Sandbox, "id" | "state">;
  remove(): Promise<void>;
}

/** Where a place is at present: in one container after another, never in two at once. */
export class CurrentContainer<Container extends PlaceContainer> {
  #opening: Promise<Container> | null = null;
  #live: Container | null = null;

  /** The one of this moment, in whatever state it is; null: there is none, or it has not come up. */
  get live(): Container | null {
    return this.#live;
  }

  /** The same, waiting for one that comes up. @throws what hindered its start */
  get current(): Promise<Container | null> {
    return this.#opening ?? Promise.resolve(null);
  }

  /** Takes one that is being opened. @throws what hinders that */
  open(opening: Promise<Container>): Promise<Container> {
    this.#opening = opening;
    this.#live = null;
    opening.then(
      (live) => {
        if (this.#opening === opening) this.#live = live;
      },
      () => {
        // The caller that needs it next is told.
      },
    );
    return opening;
  }

  /** One that runs: opened anew when there is none, or it could not be opened, or was removed. */
  async present(open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const live = await asked?.catch(() => null);
    if (live?.sandbox.state === "running") return live;
    if (this.#opening === asked || this.#opening === null) return this.open(open());
    return this.#opening;
  }

  /** Removes one and opens another in its stead, once however many callers ask for it; the reason is for `onReplaced`. */
  async replace(gone: Container, open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const isPresent = (await asked?.catch(() => null)) === gone;
    if (this.#opening === null || (isPresent && this.#opening === asked)) {
      return this.open(gone.remove().then(open));
    }
    return this.#opening;
  }

  /** Removes it, and has none then. */
  async discard(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    this.#live = null;
    await (await opening?.catch(() => null))?.remove();
  }
}
