import { throwIfCancelled } from "../base/abort.ts";
import type { EngineName, CallOptions } from "../engines/engine.ts";
import type { Admission, LentPlace } from "./admission.ts";
import type { SandboxIdentity } from "./sandbox.ts";
import type { Caller, Sandboxes } from "./sandboxes.ts";
import {
  Demand,
  beginCheck,
  isChecked,
  isWellNow,
  type SpareSandbox,
  type WarmKind,
  type WarmSandbox,
} from "./warm-sandbox.ts";
import type { Kit } from "../base/kit.ts";

/** The sandboxes of one kind that wait, oldest first. */
interface Shelf {
  /** As the newest request describes it. */
  kind: WarmKind;
  readonly demand: Demand;
  readonly spares: SpareSandbox[];
  /** How many are being made. */
  making: number;
  /** None is made before, as one could not be; milliseconds of a clock that never goes back. */
  restsUntilMs: number;
}

/** Kinds that are remembered; beyond that, the one that has not been requested for the longest time is forgotten. */
const maxKinds = 64;
/** A kind takes nothing from another one that was requested this shortly before it. */
const rivalMs = 10_000;

/** What waits, kind by kind. */
class Shelves {
  readonly #shelves = new Map<string, Shelf>();
  readonly #discard: (spare: SpareSandbox) => void;

  /** `discard` gives up one, on whichever shelf it is. */
  constructor(discard: (spare: SpareSandbox) => void) {
    this.#discard = discard;
  }

  get size(): number {
    return this.filled.reduce((sum, { spares }) => sum + spares.length, 0);
  }

  /** How many are being made. */
  get making(): number {
    return [...this.#shelves.values()].reduce((sum, { making }) => sum + making, 0);
  }

  get isEmpty(): boolean {
    return this.#shelves.size === 0;
  }

  get filled(): readonly Shelf[] {
    return [...this.#shelves.values()].filter(({ spares }) => spares.length > 0);
  }

  of(kind: WarmKind, demand: () => Demand): Shelf {
    const known = this.#shelves.get(kind.key);
    if (known !== undefined) {
      known.kind = kind;
      return known;
    }
    const oldest = this.#byLastAsked()[0];
    if (this.#shelves.size >= maxKinds && oldest !== undefined) this.#forget(oldest);
    const shelf: Shelf = { kind, demand: demand(), spares: [], making: 0, restsUntilMs: 0 };
    this.#shelves.set(kind.key, shelf);
    return shelf;
  }

  /** Takes it off its shelf; false when it was on none. */
  remove(spare: SpareSandbox): boolean {
    for (const { spares } of this.#shelves.values()) {
      const index = spares.indexOf(spare);
      if (index === -1) continue;
      spares.splice(index, 1);
      return true;
    }
    return false;
  }

  /** Whether its kind has not been forgotten. */
  has(shelf: Shelf): boolean {
    return this.#shelves.get(shelf.kind.key) === shelf;
  }

  /** The one asked for last of those that have, and are being made, fewer than is worth having; null when there is none. */
  neediest(nowMs: number): Shelf | null {
    const lacks = ({ spares, making, demand, restsUntilMs }: Shelf): boolean =>
      spares.length + making < demand.wanted && restsUntilMs <= nowMs;
    return this.#byLastAsked().findLast(lacks) ?? null;
  }

  /** Whether there is room for one more, where need be in the place of one that is asked for less. */
  makeRoom(shelf: Shelf, max: number): boolean {
    if (this.size + this.making < max) return true;
    const least = this.#byLastAsked().find(({ spares }) => spares.length > 0);
    const isRival = least === undefined || shelf.demand.lastAskedMs - least.demand.lastAskedMs < rivalMs;
    if (isRival || least === shelf) return false;
    this.#drop(least);
    return true;
  }

  /** Gives up what is not worth having any more, or too old; forgets kinds that nobody wants. */
  settle(nowMs: number, maxAgeMs: number): void {
    for (const shelf of this.#shelves.values()) {
      const { demand, spares } = shelf;
      demand.settle(spares.length, nowMs);
      for (const spare of [...spares]) if (nowMs - spare.madeMs >= maxAgeMs) this.#discard(spare);
      while (spares.length > demand.wanted) this.#drop(shelf);
      if (demand.isOver(nowMs)) this.#forget(shelf);
    }
  }

  /** Gives up one of those that have not been requested for the longest time. */
  dropLeastWanted(): void {
    const least = this.#byLastAsked().find(({ spares }) => spares.length > 0);
    if (least !== undefined) this.#drop(least);
  }

  /** Those of that engine and image that wait; first the kind that was requested last. */
  ofImage(engine: EngineName, image: string): readonly SpareSandbox[] {
    return this.#byLastAsked()
      .toReversed()
      .filter(({ kind }) => kind.engine.name === engine && kind.plan.image === image)
      .flatMap(({ spares }) => spares);
  }

  /** Longest ago first. */
  #byLastAsked(): readonly Shelf[] {
    return [...this.#shelves.values()].toSorted((one, other) => one.demand.lastAskedMs - other.demand.lastAskedMs);
  }

  #drop({ spares }: Shelf): void {
    const [oldest] = spares;
    if (oldest !== undefined) this.#discard(oldest);
  }

  #forget(shelf: Shelf): void {
    while (shelf.spares.length > 0) this.#drop(shelf);
    this.#shelves.delete(shelf.kind.key);
  }
}

interface SpareOptions {
  readonly sandboxes: Pick<Sandboxes, "create">;
  /** Where it is to wait. */
  readonly place: LentPlace;
  /** Called when its program has ended. */
  readonly ended: (spare: SpareSandbox) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly signal: AbortSignal;
}

/** Makes one of that kind; whatever goes wrong, nothing of it is left. @throws what the engine throws, CANCELLED */
async function makeSpare(
  kind: WarmKind,
  { sandboxes, place, ended, monotonicMs, signal }: SpareOptions,
): Promise<SpareSandbox> {
  const held = await kind.hold?.({ signal });
  let sandbox: WarmSandbox["sandbox"] | undefined;
  try {
    // Asked first: a tag that moves on meanwhile makes another name than the one that is compared later.
    const imageSeenMs = monotonicMs();
    const image = await imageOf(kind, { signal });
    sandbox = await sandboxes.create(kind.engine, kind.plan, { signal });
    const process = await kind.prepare(sandbox, { signal });
    const made = { sandbox, process, held, image, imageSeenMs, madeMs: monotonicMs() };
    const spare: SpareSandbox = { ...made, place, hasEnded: false };
    const end = (): void => {
      spare.hasEnded = true;
      ended(spare);
    };
    void process.exit.then(end, end);
    return spare;
  } catch (error) {
    // What is mounted in it must outlive it. A removal that fails is already in the log.
    await sandbox?.remove().catch(() => undefined);
    await held?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** The name of the content of a kind's image. @throws IMAGE_UNAVAILABLE, and what the engine throws */
function imageOf({ engine, plan }: WarmKind, options: CallOptions): Promise<string> {
  return engine.images.identity(plan.image, options);
}

/** How many sandboxes may wait, and for how long. */
export interface WarmPoolBounds {
  /** Of each kind that was requested once; 0 gives up the last one. */
  readonly min: number;
  /** Of all kinds together. */
  readonly max: number;
  /** A kind that nobody requests for this long shrinks to `min`. */
  readonly idleMs: number;
  /** Older ones are replaced. */
  readonly maxAgeMs: number;
  /** None is made while this machine has less memory available. */
  readonly minFreeBytes: number;
}

export interface WarmPoolOptions extends Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly bounds: WarmPoolBounds;
  readonly sandboxes: Pick<Sandboxes, "create" | "adopt">;
  readonly admission: Pick<Admission, "acquireNow" | "lend" | "taken">;
  /** How many programs this machine can run at once. */
  readonly processors: number;
  /** Memory of this machine that is available to programs. */
  readonly availableMemoryBytes: () => number;
}

/** How the warm sandboxes of one engine are used. */
export interface WarmUse {
  /** Those that wait now. */
  readonly waiting: number;
  /** Runs that found one, and runs that had to start their own, since the start. */
  readonly hits: number;
  readonly misses: number;
}

/** Who takes one. */
export interface WarmCaller extends Caller {
  /** As in `Adoption`. */
  readonly identity: Partial<SandboxIdentity>;
}

/**
 * How long after a request the next one is made, so that it is not made in the way of the program that was asked for: a
 * warm one has mostly ended by then, and one that was found wanting has started.
 */
const refillDelayMs = { found: 100, missed: 500 } as const;
/** How often waiting sandboxes are checked; a look may take as long. */
const lookEveryMs = 5_000;
/** How long after an image was seen nobody need look at it who takes a sandbox that was made of it. */
const imageSeenForMs = 2 * lookEveryMs;
/** How many are made at once, however many processors there are: each also costs the engine work. */
const maxMaking = 4;
/** How long a kind is left alone after one of it could not be made. */
const restMs = 30_000;

/**
 * Sandboxes with a program that waits for its one job, made before anybody asks (DESIGN 7). A request takes one and uses
 * it once. They live in places that nobody needs, and give way to requests at once. One is made at a time, and a further one for each processor that no
 * run has.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions;
  readonly #shelves: Shelves;
  readonly #closing = new AbortController();
  /** By the names of engines. */
  readonly #asked = new Map<string, { hits: number; misses: number }>();
  #refill: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
    this.#shelves = new Shelves((spare) => this.#discard(spare));
  }

  /** Sandboxes that wait. */
  get size(): number {
    return this.#shelves.size;
  }

  /** By the names of the engines that runs have asked for. */
  get use(): Readonly<Record<string, WarmUse>> {
    const waitingOn = (engine: string): number =>
      this.#shelves.filled.reduce(
        (sum, { kind, spares }) => sum + (kind.engine.name === engine ? spares.length : 0),
        0,
      );
    return Object.fromEntries(
      [...this.#asked].map(([engine, asked]) => [engine, { ...asked, waiting: waitingOn(engine) }]),
    );
  }

  /**
   * Whether one waits on that engine whose image was there as it was made, 10 seconds ago at most, so that a request which
   * takes it need not look at the image. Whether it is well is asked at once: the request has more to prepare meanwhile.
   */
  foresees(engine: EngineName, image: string): boolean {
    const nowMs = this.#options.monotonicMs();
    const isSeen = ({ imageSeenMs }: SpareSandbox): boolean => nowMs - imageSeenMs <= imageSeenForMs;
    const seen = this.#closing.signal.aborted ? [] : this.#shelves.ofImage(engine, image).filter(isSeen);
    const next = seen.find((spare) => !isChecked(spare, nowMs));
    if (next !== undefined) beginCheck(next, nowMs);
    return seen.length > 0;
  }

  /**
   * One of that kind, which is the caller's from now on; null when there is none, or the caller has to wait for a place.
   * @throws ALREADY_EXISTS when there is a sandbox of the id that it is to have, CANCELLED
   */
  async take(kind: WarmKind, caller: WarmCaller): Promise<WarmSandbox | null> {
    if (this.#closing.signal.aborted) return null;
    const shelf = this.#shelfOf(kind);
    shelf.demand.ask(shelf.spares.length, this.#options.monotonicMs());
    let isFound = false;
    try {
      const taken = await this.#takeFrom(shelf, caller, this.#options.now());
      isFound = taken !== null;
      this.#count(kind.engine.name, isFound);
      return taken;
    } finally {
      this.#refillSoon(isFound);
    }
  }

  /** Makes no more; the waiting ones are removed with all sandboxes. */
  close(): void {
    this.#closing.abort();
    clearTimeout(this.#refill);
    clearInterval(this.#look);
  }

  #count(engine: string, isFound: boolean): void {
    const asked = this.#asked.get(engine) ?? { hits: 0, misses: 0 };
    asked[isFound ? "hits" : "misses"] += 1;
    this.#asked.set(engine, asked);
  }

  async #takeFrom(shelf: Shelf, caller: WarmCaller, begunMs: number): Promise<WarmSandbox | null> {
    const spare = shelf.spares.shift();
    if (spare === undefined) return null;
    spare.place.release();
    const { principal, signal, identity } = caller;
    const place = this.#options.admission.acquireNow(principal);
    if (place === null) {
      this.#putBack(shelf, spare);
      return null;
    }
    try {
      if (await isWellNow(spare, this.#options.monotonicMs())) {
        throwIfCancelled(signal);
        const { sandbox, process } = spare;
        this.#options.sandboxes.adopt(sandbox, { principal, place, identity, begunMs });
        // Its taker holds what it needs itself.
        spare.held?.[Symbol.asyncDispose]().then(undefined, (error: unknown) => {
          this.#options.logger.warn({ sandbox: sandbox.id, err: error }, "packages of a warm sandbox were not let go");
        });
        return { sandbox, process };
      }
    } catch (error) {
      place.release();
      this.#discard(spare);
      throw error;
    }
    place.release();
    this.#discard(spare);
    return this.#takeFrom(shelf, caller, begunMs);
  }

  #putBack(shelf: Shelf, spare: SpareSandbox): void {
    const place = this.#options.admission.lend(() => this.#discard(spare));
    if (place === null) return this.#discard(spare);
    spare.place = place;
    shelf.spares.unshift(spare);
  }

  #shelfOf(kind: WarmKind): Shelf {
    this.#look ??= setInterval(() => void this.#lookThrough(), lookEveryMs).unref();
    const { min, max, idleMs } = this.#options.bounds;
    const bounds = { min, max, idleMs, worthFrom: kind.worthFrom };
    return this.#shelves.of(kind, () => new Demand(bounds, this.#options.monotonicMs()));
  }

  #refillSoon(isFound: boolean): void {
    // Those that find one put it off; those that find none do not, or a steady flow of them would never find any.
    if (this.#closing.signal.aborted || (!isFound && this.#refill !== undefined)) return;
    clearTimeout(this.#refill);
    const next = (): void => {
      this.#refill = undefined;
      this.#makeNext();
    };
    this.#refill = setTimeout(next, isFound ? refillDelayMs.found : refillDelayMs.missed).unref();
  }

  /** Those that are needed most, as many as may be made at once and have room. */
  #makeNext(): void {
    const { bounds, monotonicMs } = this.#options;
    let goesOn = true;
    while (goesOn && this.#mayMake()) {
      const shelf = this.#shelves.neediest(monotonicMs());
      goesOn = shelf !== null && this.#shelves.makeRoom(shelf, bounds.max) && this.#begin(shelf);
    }
  }

  /** The more places have runs in them, the fewer are made at once beside them. */
  #mayMake(): boolean {
    const { admission, availableMemoryBytes, bounds, processors } = this.#options;
    if (this.#closing.signal.aborted || availableMemoryBytes() < bounds.minFreeBytes) return false;
    return this.#shelves.making < Math.max(1, Math.min(maxMaking, processors) - admission.taken);
  }

  /** Begins to make one; false: there is no place for it. */
  #begin(shelf: Shelf): boolean {
    const giveUp = new AbortController();
    let spare: SpareSandbox | undefined;
    const place = this.#options.admission.lend(() => (spare === undefined ? giveUp.abort() : this.#discard(spare)));
    if (place === null) return false;
    shelf.making += 1;
    const end = (): void => {
      shelf.making -= 1;
      this.#refillSoon(true);
    };
    const signal = AbortSignal.any([giveUp.signal, this.#closing.signal]);
    const keep = (made: SpareSandbox): void => {
      spare = made;
      if (signal.aborted || made.hasEnded || !this.#shelves.has(shelf)) return this.#discard(made);
      shelf.spares.push(made);
      this.#options.logger.debug({ sandbox: made.sandbox.id, kind: shelf.kind.key }, "a warm sandbox waits");
    };
    const fail = (error: unknown): void => {
      place.release();
      if (!giveUp.signal.aborted) shelf.restsUntilMs = this.#options.monotonicMs() + restMs;
      this.#options.logger.info({ engine: shelf.kind.engine.name, err: error }, "no warm sandbox could be made");
    };
    const ended = (gone: SpareSandbox): void => {
      if (this.#shelves.remove(gone)) this.#discard(gone);
    };
    const { sandboxes, monotonicMs } = this.#options;
    void makeSpare(shelf.kind, { sandboxes, place, ended, monotonicMs, signal }).then(keep, fail).finally(end);
    return true;
  }

  /** Removed in the background; nobody ever gets it. */
  #discard(spare: SpareSandbox): void {
    this.#shelves.remove(spare);
    spare.place.release();
    const remove = async (): Promise<void> => {
      try {
        await spare.sandbox.remove();
      } finally {
        await spare.held?.[Symbol.asyncDispose]();
      }
    };
    // A removal that fails is already in the log.
    remove().catch(() => undefined);
  }

  /** Gives up those that are too many, too old, or made from an image that has changed since. */
  async #lookThrough(): Promise<void> {
    const { bounds, monotonicMs, availableMemoryBytes } = this.#options;
    const nowMs = monotonicMs();
    this.#shelves.settle(nowMs, bounds.maxAgeMs);
    if (availableMemoryBytes() < bounds.minFreeBytes) this.#shelves.dropLeastWanted();
    await Promise.all(this.#shelves.filled.map((shelf) => this.#dropOutdated(shelf)));
    if (this.#shelves.isEmpty) {
      clearInterval(this.#look);
      this.#look = undefined;
    }
    this.#refillSoon(false);
  }

  async #dropOutdated({ kind, spares }: Shelf): Promise<void> {
    const seenMs = this.#options.monotonicMs();
    const image = await imageOf(kind, { signal: AbortSignal.timeout(lookEveryMs) }).catch(() => null);
    for (const spare of [...spares]) {
      if (spare.image !== image) this.#discard(spare);
      else spare.imageSeenMs = Math.max(spare.imageSeenMs, seenMs);
    }
  }
}
