import { cancelled } from "../base/abort.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

/** After this long a start that is still under way lets the next one begin beside it. */
const holdMs = 10_000;

/**
 * Lets sandboxes start in the order in which they came, so many at once on each engine: all of a burst at once would share
 * the processors, and all be ready late. A start that takes long holds up no other, and an engine that is stuck none of another engine.
 */
export class StartGate {
  readonly #atOnce: number;
  /** By the names of engines. */
  readonly #lanes = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Starts it when its turn comes. @throws CANCELLED, and what the start throws */
  async pass<T>(engine: string, signal: AbortSignal, start: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(engine, signal);
    try {
      return await start();
    } finally {
      leave();
    }
  }

  /** Resolves when a start may begin, to what tells of its end; telling it twice does no harm. */
  async #enter(engine: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancelled(signal.reason);
    const lane = this.#lanes.get(engine) ?? { underWay: 0, waiting: [] };
    this.#lanes.set(engine, lane);
    if (lane.underWay >= this.#atOnce) await wait(lane.waiting, signal);
    else lane.underWay += 1;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(late);
      const next = lane.waiting.shift();
      // Stays taken while it passes on, so that no newcomer slips in.
      if (next === undefined) lane.underWay -= 1;
      else next();
    };
    const late = setTimeout(leave, holdMs).unref();
    return leave;
  }
}

interface RoomOfWaitingOptions {
  /** What waits on the engine for nobody in particular. */
  readonly waitingOn: (engine: string) => readonly { readonly remove: () => Promise<void> }[];
  /** Called before so many are removed. */
  readonly onGiveWay: (engine: string, count: number) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What decides how much room a sandbox takes, and on which nodes. */
type SizedPlan = Pick<SandboxPlan, "limits" | "mounts" | "ociRuntime">;

interface Refusal {
  readonly engine: string;
  readonly plan: SizedPlan;
  readonly atMs: number;
}

/** A refusal says nothing of room that others have given back since, of which this server is not told. */
const refusalLastsMs = 60_000;

/**
 * What waits on an engine for nobody in particular holds room there, by a quota or on a node: where somebody's sandbox finds none, it
 * goes. It stays where that cannot help: one no larger was refused with nothing waiting, and nothing has ended since.
 */
export class RoomOfWaiting {
  readonly #options: RoomOfWaitingOptions;
  #refusals: readonly Refusal[] = [];

  constructor(options: RoomOfWaitingOptions) {
    this.#options = options;
  }

  /** @throws what the start throws, at its second try if it had one */
  async start<T>(engine: string, plan: SizedPlan, start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      const { waitingOn, onGiveWay } = this.#options;
      const waiting = waitingOn(engine);
      if (!isFull(error) || waiting.length === 0 || this.#isInVain(engine, plan)) throw error;
      onGiveWay(engine, waiting.length);
      // Those that cannot be removed are in the log, and hold the room.
      await Promise.allSettled(waiting.map((sandbox) => sandbox.remove()));
      return this.#startAgain(engine, plan, start);
    }
  }

  /** Something that was somebody's has ended on the engine. */
  ended(engine: string): void {
    this.#refusals = this.#refusals.filter((refusal) => refusal.engine !== engine);
  }

  async #startAgain<T>(engine: string, plan: SizedPlan, start: () => Promise<T>): Promise<T> {
    const { waitingOn, now } = this.#options;
    try {
      return await start();
    } catch (error) {
      if (isFull(error) && waitingOn(engine).length === 0)
        this.#refusals = [...this.#refusals, { engine, plan, atMs: now() }];
      throw error;
    }
  }

  #isInVain(engine: string, plan: SizedPlan): boolean {
    const nowMs = this.#options.now();
    this.#refusals = this.#refusals.filter(({ atMs }) => nowMs - atMs < refusalLastsMs);
    return this.#refusals.some((refusal) => refusal.engine === engine && isAtLeast(plan, refusal.plan));
  }
}

function isFull(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "CAPACITY";
}

function isAtLeast(one: SizedPlan, other: SizedPlan): boolean {
  // What is mounted may take a second container.
  const sizes = ({ limits, mounts = [] }: SizedPlan): readonly number[] => [
    ...[limits.cpus, limits.memoryBytes],
    mounts.length,
  ];
  const least = sizes(other);
  return one.ociRuntime === other.ociRuntime && sizes(one).every((size, index) => size >= (least[index] ?? 0));
}

async function wait(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    const index = waiting.indexOf(resolve);
    if (index === -1) return;
    waiting.splice(index, 1);
    reject(cancelled(signal.reason));
  };
  waiting.push(resolve);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
