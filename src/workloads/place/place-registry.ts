import type { Logger } from "../../base/logger.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { findNamed } from "../../base/id.ts";
import type { PlaceNoun } from "./place.ts";

export interface PlaceRegistryOptions<Content> {
  readonly noun: PlaceNoun;
  /** How long a place may be idle before it is ended. */
  readonly idleMs: number;
  readonly logger: Logger;
  /** Ends what is in a place; calling it again waits for the same end. */
  readonly end: (content: Content) => Promise<void>;
  /**
   * Whether a place whose end failed may have left something behind besides sandboxes, which are tracked and swept
   * separately. Default: no.
   */
  readonly mayLeave?: ((content: Content) => boolean) | undefined;
}

/** Fields of requests that name a place. */
const idFields: Readonly<Record<PlaceNoun, string>> = { session: "session_id", environment: "env_id", preview: "id" };

/** One id in use. */
export interface PlaceEntry<Content> {
  readonly principal: string;
  readonly id: string;
  /** Its caller's own word for it; undefined: none. */
  readonly name: string | undefined;
  readonly content: Content;
}

/** The places of one kind on this server, each known to its own principal only, and when they end. */
export class PlaceRegistry<Content> {
  readonly #options: PlaceRegistryOptions<Content>;
  /** By principal, then by id. */
  readonly #entries = new Map<string, Map<string, PlaceEntry<Content>>>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<PlaceEntry<Content>, NodeJS.Timeout>();
  readonly #ending = new Set<PlaceEntry<Content>>();
  /** Ids of those that did not end properly and may have left more than sandboxes. */
  readonly #failed = new Set<string>();
  #isClosed = false;

  constructor(options: PlaceRegistryOptions<Content>) {
    this.#options = options;
  }

  /** Registers a place under an id that is unique for its principal. @throws CANCELLED after `close` */
  enter(id: string, principal: string, content: Content, name?: string): PlaceEntry<Content> {
    if (this.#isClosed) throw new GloveboxError("CANCELLED", "Glovebox is shutting down.");
    const entry = { id, principal, name, content };
    const own = this.#entries.get(principal) ?? new Map<string, PlaceEntry<Content>>();
    this.#entries.set(principal, own.set(id, entry));
    return entry;
  }

  find(id: string, principal: string): PlaceEntry<Content> | undefined {
    return this.#entries.get(principal)?.get(id);
  }

  /**
   * The principal's place that a word means: its id, its name or the beginning of its id (SPEC UI1). @throws
   * INVALID_REQUEST naming the candidates if it means several
   */
  meant(word: string, principal: string): PlaceEntry<Content> | undefined {
    return findNamed(word, this.of(principal), idFields[this.#options.noun]);
  }

  /** The principal's own, in order of registration. */
  of(principal: string): readonly PlaceEntry<Content>[] {
    return [...(this.#entries.get(principal)?.values() ?? [])];
  }

  /** Idle places, the one idle longest first. */
  get idle(): readonly Content[] {
    return [...this.#idle.keys()].map(({ content }) => content);
  }

  /** Ids of live ones, and of those that may have left something besides sandboxes. */
  get left(): readonly string[] {
    return [...new Set([...this.#all.map(({ id }) => id), ...this.#failed])];
  }

  /** Starts or ends the idle time of a place. */
  setBusy(entry: PlaceEntry<Content>, isBusy: boolean): void {
    clearTimeout(this.#idle.get(entry));
    this.#idle.delete(entry);
    if (isBusy || this.#ending.has(entry) || this.find(entry.id, entry.principal) !== entry) return;
    const { idleMs } = this.#options;
    this.#idle.set(entry, setTimeout(() => this.#endIdle(entry), idleMs).unref());
  }

  /** Ends a place; its id can be reused once it is gone. */
  async end(entry: PlaceEntry<Content>): Promise<void> {
    this.#ending.add(entry);
    this.setBusy(entry, true);
    try {
      await this.#options.end(entry.content);
    } catch (error) {
      if (this.#options.mayLeave?.(entry.content) === true) this.#failed.add(entry.id);
      throw error;
    } finally {
      this.leave(entry);
      this.#ending.delete(entry);
    }
  }

  /** Ends all places of a principal. */
  async endAll(principal: string): Promise<void> {
    // A removal that fails is in the log already.
    await Promise.allSettled(this.of(principal).map((entry) => this.end(entry)));
  }

  /** Releases the id of a place that is gone, or never started. */
  leave(entry: PlaceEntry<Content>): void {
    const own = this.#entries.get(entry.principal);
    if (own?.get(entry.id) !== entry) return;
    own.delete(entry.id);
    if (own.size === 0) this.#entries.delete(entry.principal);
  }

  /** Ends every place, and accepts no new ones; what remains is in `left`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // A removal that fails is in the log already.
    await Promise.allSettled(this.#all.map((entry) => this.end(entry)));
  }

  get #all(): readonly PlaceEntry<Content>[] {
    return [...this.#entries.values()].flatMap((own) => [...own.values()]);
  }

  #endIdle(entry: PlaceEntry<Content>): void {
    const { noun, logger } = this.#options;
    const ids = { [noun]: entry.id, principal: entry.principal };
    logger.info(ids, `idle ${noun} ended`);
    this.end(entry).catch((error: unknown) => {
      logger.error({ ...ids, err: error }, `idle ${noun} could not be removed`);
    });
  }
}
