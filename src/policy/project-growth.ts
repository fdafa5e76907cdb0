/** What a file system has left; files null where it counts none. */
export interface FreeSpace {
  readonly bytes: number;
  readonly files: number | null;
}

/** What a walk through a folder found. */
export interface TreeSize {
  /** Allocated, each file once. */
  readonly bytes: number;
  readonly files: number;
  /** Of files that were made or changed since the time that the walk was told. */
  readonly freshBytes: number;
  readonly freshFiles: number;
  /** False: it was too large, too deep or too slow to be walked through. */
  readonly isWhole: boolean;
}

export interface GrowthLimits {
  readonly bytes: number;
  readonly files: number;
}

type Quantity = "bytes" | "files";

/** What must have gone before a walk is worth it: nothing is so small that each command would cause one. */
const smallestStep: GrowthLimits = { bytes: 1024 * 1024, files: 1_000 };

/** Walks until a limit is reached by steady growth. */
const steps = 4;

/**
 * By how much a project has grown while work ran (SPEC LI1). Its folder is walked through only once the file system has
 * lost enough to matter; what it lost is also the most that the growth can be.
 */
export class ProjectGrowth {
  readonly limits: GrowthLimits;
  /**
   * Whether the folder was empty at first and work alone writes to it: then all that is in it counts, whatever others free on
   * the same disk meanwhile.
   */
  readonly startsEmpty: boolean;
  /** Until the last walk. */
  readonly grown: Record<Quantity, number> = { bytes: 0, files: 0 };
  /** What the file system lost while work ran, since the last walk. */
  readonly #lost: Record<Quantity, number> = { bytes: 0, files: 0 };
  #free: FreeSpace | null = null;
  #tree: TreeSize | null = null;
  /** Whether time without work lies between the last walk and now. */
  #rested = true;
  #countsFiles = true;
  /** What had been lost when the present walk began; what is lost during it counts for the next one too. */
  #walk: { readonly lost: GrowthLimits; readonly rested: boolean } | null = null;

  constructor(limits: GrowthLimits, { startsEmpty = false }: { readonly startsEmpty?: boolean } = {}) {
    this.limits = limits;
    this.startsEmpty = startsEmpty;
  }

  /**
   * Takes in what is free now. `worked`: work has run since the last time; `freed`: bytes that the sandbox itself gave back
   * elsewhere meanwhile, which may hide what it took here.
   */
  observe(free: FreeSpace, { worked, freed = 0 }: { readonly worked: boolean; readonly freed?: number }): void {
    const before = this.#free;
    this.#free = free;
    this.#countsFiles = free.files !== null;
    if (!worked || before === null) {
      this.#rested ||= !worked;
      return;
    }
    this.#lost.bytes += Math.max(0, before.bytes - free.bytes + freed);
    if (before.files !== null && free.files !== null) this.#lost.files += Math.max(0, before.files - free.files);
  }

  /** Whether enough has gone that the project may have come near a limit. */
  get needsWalk(): boolean {
    return this.#isDue("bytes") || (this.#countsFiles ? this.#isDue("files") : this.#lost.bytes > 0);
  }

  /** To be called before a walk. */
  beginWalk(): void {
    this.#walk = { lost: { ...this.#lost }, rested: this.#rested };
    this.#rested = false;
  }

  /** Records a walk; returns whether the project has grown since the last one. */
  settle(tree: TreeSize): boolean {
    const bytes = this.#grow("bytes", tree, tree.freshBytes);
    const files = this.#grow("files", tree, tree.freshFiles);
    this.#tree = tree.isWhole ? tree : null;
    this.#lost.bytes -= this.#walk?.lost.bytes ?? 0;
    this.#lost.files -= this.#walk?.lost.files ?? 0;
    this.#walk = null;
    return bytes > 0 || files > 0;
  }

  #isDue(quantity: Quantity): boolean {
    const left = this.limits[quantity] - this.grown[quantity];
    return this.#lost[quantity] >= Math.max(smallestStep[quantity], left / steps);
  }

  #grow(quantity: Quantity, tree: TreeSize, fresh: number): number {
    const growth = this.#growth(quantity, tree, fresh);
    this.grown[quantity] = Math.max(0, this.grown[quantity] + growth);
    return growth;
  }

  #growth(quantity: Quantity, tree: TreeSize, fresh: number): number {
    const lost = quantity === "files" && !this.#countsFiles ? Number.POSITIVE_INFINITY : this.#lost[quantity];
    // What cannot be walked through counts as all that has gone.
    if (!tree.isWhole) return Number.isFinite(lost) ? lost : fresh;
    if (this.startsEmpty) return tree[quantity] - this.grown[quantity];
    if (this.#tree === null) return Math.min(lost, fresh);
    const difference = tree[quantity] - this.#tree[quantity];
    const rested = this.#rested || this.#walk?.rested === true;
    return rested && difference > 0 ? Math.min(difference, lost, fresh) : difference;
  }
}
