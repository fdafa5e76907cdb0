import type { EngineName } from "../../engines/engine.ts";
import type { Demand } from "./demand.ts";
import type { SpareSandbox, WarmKind } from "./warm-sandbox.ts";

/** The sandboxes of one kind that wait, oldest first. */
export interface Shelf {
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
export class Shelves {
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
