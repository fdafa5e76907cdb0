import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import { noTracer, type Tracer } from "../base/tracer.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { CallOptions, Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Admission, Place } from "./admission/admission.ts";
import { ContainerStarter } from "./container-starter.ts";
import { ownershipLabels } from "./labelled-spec.ts";
import { writablePaths } from "./mounts/writable-paths.ts";
import type { Leases } from "./owners/leases.ts";
import type { SandboxRecord, SandboxRecords } from "./owners/sandbox-records.ts";
import { RecordWriter, type WayIn } from "./owners/record-writer.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";
import type { SandboxObserver } from "./sandbox-observer.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";
import { Sandbox, type SandboxParts } from "./sandbox.ts";

/** Who asks, and the signal that gives the request up. */
export interface Caller {
  readonly principal: string;
  /** Id of the run that is asked for, where the caller knows it already; default: a new one. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SandboxesOptions {
  readonly admission: Admission;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  /** Opened with the first sandbox. */
  readonly peerServer: WayIn;
  readonly platform: NodeJS.Platform;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  readonly logger: Logger;
  /** Told of every sandbox and its runs; default: none. */
  readonly observers?: readonly SandboxObserver[] | undefined;
  /** Told what takes the time of a start; default: nobody is. */
  readonly tracer?: Tracer | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What is known of a sandbox that runs now. */
export type LiveRecord = Omit<SandboxRecord, "peerAddress">;

interface StartOptions {
  readonly capabilities: Capabilities;
  /** Null: nobody yet. */
  readonly principal: string | null;
  readonly signal: AbortSignal;
}

/** What of this server's own belongs to a sandbox that lives. */
interface Held {
  readonly record: RecordWriter;
  /** Null until somebody asks for the sandbox. */
  place: Place | null;
}

/**
 * Admits requests, within the limit on how many sandboxes may live for them at once, starts sandboxes, and knows those
 * that live. A sandbox may be created before anybody asks for it; the request that takes it over is admitted first.
 */
export class Sandboxes implements AsyncDisposable {
  readonly #options: SandboxesOptions;
  readonly #live = new Map<string, Sandbox>();
  readonly #held = new Map<string, Held>();
  readonly #starting = new Set<Promise<Sandbox>>();
  readonly #containers: ContainerStarter;
  readonly #closing = new AbortController();

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#containers = new ContainerStarter(options);
  }

  /** Sandboxes that run now. */
  get live(): readonly Sandbox[] {
    return [...this.#live.values()];
  }

  /** The sandbox of that id when it runs now. */
  find(id: string): Sandbox | undefined {
    return this.#live.get(id);
  }

  /** What is written down of those that run now and are the principal's, in the order of their start. */
  recordsOf(principal: string): readonly LiveRecord[] {
    return [...this.#held.values()].map(({ record }) => record.record).filter((each) => each.principal === principal);
  }

  /** Ids of those that may exist on their engine: live ones, those in the making, and those that could not be removed. */
  get left(): readonly string[] {
    return [...this.#live.keys(), ...this.#containers.doubtful];
  }

  /**
   * Waits for a place and starts a sandbox in it; whatever goes wrong, nothing is left behind.
   * @throws CAPACITY, CANCELLED, and what the engine throws
   */
  open(engine: Engine, plan: SandboxPlan, caller: Caller): Promise<Sandbox> {
    return this.#track(caller.signal, async (signal) => {
      // An engine that is down is told at once, not at the end of the queue.
      const capabilities = await capabilitiesFor(engine, plan, signal);
      const place = await this.admit({ ...caller, signal });
      try {
        const sandbox = await this.#start(engine, plan, { capabilities, principal: caller.principal, signal });
        this.#take(sandbox, place);
        return sandbox;
      } catch (error) {
        place.release();
        throw error;
      }
    });
  }

  /** Sets how many a principal may have at once; null: as many as may live. */
  setMaximum(principal: string, maximum: number | null): void {
    this.#options.admission.setMaximum(principal, maximum);
  }

  /** Waits for a place among those that may live at once. @throws CAPACITY, CANCELLED */
  admit({ principal, signal }: Caller): Promise<Place> {
    const { admission, tracer = noTracer } = this.#options;
    return tracer.step("wait for a place", {}, () => admission.acquire(principal, this.#untilClosed(signal)));
  }

  /**
   * Starts a sandbox for nobody in particular, outside the limit: how many may wait is for its maker to bound.
   * @throws CANCELLED, and what the engine throws
   */
  create(engine: Engine, plan: SandboxPlan, options: CallOptions = {}): Promise<Sandbox> {
    return this.#track(options.signal, async (signal) =>
      this.#start(engine, plan, { capabilities: await capabilitiesFor(engine, plan, signal), principal: null, signal }),
    );
  }

  /**
   * Hands a sandbox that `create` has started over to a principal, whose place it takes until it is removed.
   * @throws SANDBOX_LOST when it does not live any more; the place stays the caller's then
   */
  async adopt(sandbox: Sandbox, principal: string, place: Place): Promise<void> {
    if (sandbox.state !== "running") throw hasEnded(sandbox);
    const { record } = this.#take(sandbox, place);
    for (const observer of this.#options.observers ?? []) observer.sandboxAssigned?.(sandbox.id, principal);
    await record.assign(principal);
    this.#options.logger.info({ sandbox: sandbox.id, principal }, "sandbox adopted");
  }

  /** Removes every sandbox, also those that are being started, and lets no new one in; what remains is `left`. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A removal that fails is in the log already.
    const removeLive = (): Promise<unknown> => Promise.allSettled(this.live.map((sandbox) => sandbox.remove()));
    // Not one after the other: an engine that does not answer must not hold up another's sandboxes.
    await Promise.all([removeLive(), Promise.allSettled(this.#starting)]);
    await removeLive();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
  }

  /** Work that `close` waits for. */
  async #track(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Sandbox>): Promise<Sandbox> {
    const starting = work(this.#untilClosed(signal));
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** @throws SANDBOX_LOST */
  #take(sandbox: Sandbox, place: Place): Held {
    const held = this.#held.get(sandbox.id);
    if (held === undefined) throw hasEnded(sandbox);
    if (held.place !== null) throw new TypeError("The sandbox belongs to somebody already.");
    held.place = place;
    return held;
  }

  async #start(engine: Engine, plan: SandboxPlan, options: StartOptions): Promise<Sandbox> {
    const { logger, owner, now, observers = [], tracer = noTracer } = this.#options;
    const { capabilities, principal, signal } = options;
    const { id = createId("sbx") } = plan;
    if (this.#held.has(id)) throw new GloveboxError("ALREADY_EXISTS", `There is a sandbox ${id} already.`);
    const begunMs = now();
    const traced = {
      "glovebox.sandbox.id": id,
      "glovebox.sandbox.kind": plan.kind,
      "glovebox.engine.name": engine.name,
    };
    const container = await tracer.step("start sandbox", traced, () =>
      this.#containers.start(id, engine, plan, signal),
    );
    logger.info({ sandbox: id, kind: plan.kind, engine: engine.name, principal }, "sandbox started");
    const record = {
      id,
      engine: engine.name,
      kind: plan.kind,
      principal,
      owner,
      createdAtMs: now(),
      labels: plan.labels,
    };
    this.#held.set(id, { record: new RecordWriter(record, this.#options), place: null });
    const sandbox = new Sandbox({
      id,
      engineName: engine.name,
      capabilities,
      container,
      kind: plan.kind,
      labels: plan.labels ?? {},
      policy: sandboxPolicy(engine.name, plan),
      observers,
      now,
      programEnvironment: plan.programEnvironment ?? {},
      writablePaths: writablePaths(plan),
      folders: foldersOf(plan),
      platform: this.#options.platform,
      logger,
      ownershipFor: (lifetimeMs) => ownershipLabels({ owner, expiresAtMs: now() + lifetimeMs }),
      onRemoved: (isGone) => this.#forget(id, isGone),
    });
    this.#live.set(id, sandbox);
    const startMs = Math.max(0, now() - begunMs);
    const opened = { sandbox, engine: engine.name, kind: plan.kind, principal, limits: plan.limits, startMs };
    for (const observer of observers) observer.sandboxOpened?.(opened);
    this.#containers.doubtful.delete(id);
    return sandbox;
  }

  async #forget(id: string, isGone: boolean): Promise<void> {
    const held = this.#held.get(id);
    this.#live.delete(id);
    this.#held.delete(id);
    for (const observer of this.#options.observers ?? []) observer.sandboxRemoved?.(id);
    if (!isGone) this.#containers.doubtful.add(id);
    held?.place?.release();
    await held?.record.remove();
  }
}

function capabilitiesFor(engine: Engine, { ociRuntime }: SandboxPlan, signal: AbortSignal): Promise<Capabilities> {
  return engine.capabilities({ signal, ociRuntime });
}

function hasEnded({ id }: Sandbox): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The sandbox ${id} has ended.`);
}

function foldersOf({ scratch, mounts = [] }: SandboxPlan): SandboxParts["folders"] {
  const fixed = mounts.filter(({ unchanging }) => unchanging === true).map(({ target }) => target);
  return [
    ...scratch.map(({ path }) => ({ path, readOnly: false })),
    ...fixed.map((path) => ({ path, readOnly: true })),
  ];
}
