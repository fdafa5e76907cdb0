import { createId } from "../../base/id.ts";
import type { E2bSandbox } from "../e2b-sandbox.ts";
import { ConnectError } from "./connect-error.ts";
import type { ClientWatch } from "./client-watch.ts";

/** A change with the file that it left, in E2B's form. */
export type WatchEvent = Readonly<Record<string, unknown>>;

/** A watch that a client asks from time to time. */
export interface PolledWatch {
  readonly watch: ClientWatch;
  /** What has not been asked for yet. */
  events: WatchEvent[];
}

const maxWatches = 16;

/** The folders that clients watch, by their sandbox. */
export class WatchTable {
  readonly #ofSandbox = new Map<string, { live: number; readonly polled: Map<string, PolledWatch> }>();

  /** @throws ConnectError if a sandbox has as many as it may */
  assertRoom(sandbox: E2bSandbox): void {
    if (this.#of(sandbox).live < maxWatches) return;
    throw new ConnectError("resource_exhausted", `${maxWatches} folders of this sandbox are being watched`);
  }

  /** Counts one until its end. */
  count(sandbox: E2bSandbox, { ended }: Pick<ClientWatch, "ended">): void {
    const of = this.#of(sandbox);
    of.live += 1;
    void ended.then(() => (of.live -= 1));
  }

  /** Knows one until it is removed; the id that finds it in this sandbox only. */
  add(sandbox: E2bSandbox, polled: PolledWatch): string {
    const id = createId("watch");
    const known = this.#of(sandbox).polled;
    known.set(id, polled);
    // Its error can still be asked for, while there are not more of them than there may be live ones.
    const dead = [...known].filter(([, { watch }]) => watch.hasEnded);
    for (const [each] of dead.slice(0, Math.max(0, known.size - maxWatches))) known.delete(each);
    return id;
  }

  /** @throws ConnectError not_found */
  find(sandbox: E2bSandbox, id: string): PolledWatch {
    const found = this.#of(sandbox).polled.get(id);
    if (found !== undefined) return found;
    throw new ConnectError("not_found", `watcher ${JSON.stringify(id.slice(0, 80))} not found`);
  }

  remove(sandbox: E2bSandbox, id: string): void {
    this.find(sandbox, id).watch.stop();
    this.#of(sandbox).polled.delete(id);
  }

  #of({ id, ended }: E2bSandbox): { live: number; readonly polled: Map<string, PolledWatch> } {
    const known = this.#ofSandbox.get(id);
    if (known !== undefined) return known;
    const made = { live: 0, polled: new Map<string, PolledWatch>() };
    if (ended.aborted) return made;
    this.#ofSandbox.set(id, made);
    ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    return made;
  }
}
