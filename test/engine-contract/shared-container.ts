import { labels } from "../../src/engines/labels.ts";
import { createId } from "../../src/base/id.ts";
import type { Container } from "../../src/engines/engine.ts";

/** One started container for many behaviours of one engine; created when the first one asks for it. */
export class SharedContainer implements AsyncDisposable {
  readonly #all: Promise<Container>[] = [];
  #current: Promise<Container> | undefined;

  get(create: () => Promise<Container>): Promise<Container> {
    if (this.#current === undefined) {
      this.#current = create().then(async (container) => {
        await container.start();
        return container;
      });
      this.#all.push(this.#current);
    }
    return this.#current;
  }

  /** The labels of a test, changed to those of a sandbox that belongs to no test: it outlives the test. */
  labels(ofTest: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    return { ...ofTest, [labels.sandbox]: createId("shared"), [labels.expiresAt]: expiresAt };
  }

  /** Makes the next behaviour get a new container: a failed one may have spoilt the old one. */
  renew(): void {
    this.#current = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const made of await Promise.allSettled(this.#all)) {
      if (made.status === "fulfilled") await made.value.remove();
    }
  }
}
