import { createId } from "../base/id.ts";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import { noTracer, type Tracer } from "../base/tracer.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { CallOptions, Engine, Container } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Admission, Place } from "./admission.ts";
import {
  ownershipLabels,
  labelledSpec,
  fixedFolders,
  writablePaths,
  isOwnContainer,
  type SandboxPlan,
} from "./sandbox-plan.ts";
import type { Leases } from "./owners/leases.ts";
import type { LiveRecord, SandboxRecords } from "./owners/sandbox-records.ts";
import type { SandboxObserver } from "./sandbox-observer.ts";
import { Sandbox, type SandboxIdentity } from "./sandbox.ts";
import { RoomOfWaiting, StartGate } from "./start-gate.ts";
import { labels } from "../engines/labels.ts";
import { settlesWithin } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { temporaryFolder, workFolder } from "../policy/scratch.ts";

/** What of a plan decides what programs may do, in the words of the wire; the record of a run's policy begins with it. */
function sandboxPolicy(engine: string, plan: SandboxPlan): Readonly<Record<string, unknown>> {
  const { kind, image, ociRuntime, limits, scratch, mounts = [], writableRoot, rootCapabilities, processUser } = plan;
  const ownFolders = new Set([workFolder, temporaryFolder, ...(kind === "session" ? [plan.workingDirectory] : [])]);
  return {
    kind,
    engine,
    image,
    oci_runtime: ociRuntime ?? null,
    limits: { cpus: limits.cpus, memory_mb: limits.memoryBytes / mebibyte, pids: limits.pids },
    scratch: scratch.map(({ path, sizeBytes }) => ({ path, size_mb: sizeBytes / mebibyte })),
    mounts: mounts.map(({ source, target, readOnly }) => ({
      source: ownFolders.has(target) ? "scratch" : source,
      target,
      read_only: readOnly,
    })),
    writable_root: writableRoot !== undefined,
    root_capabilities: rootCapabilities ?? [],
    process_user: processUser ?? null,
  };
}

/** Lets other processes of this user in. */
interface WayIn {
  /** Opens it, once, and resolves to its address. */
  open(): Promise<string>;
}

interface RecordWriterOptions {
  readonly records: Pick<SandboxRecords, "add" | "delete">;
  /** Opened with the first sandbox. */
  readonly peerServer: WayIn;
  readonly logger: Logger;
}

/** How long a one-shot run lives before other processes are told of it: writing that down would be in a short one's way. */
const oneShotMs = 50;

/**
 * Keeps the record of one sandbox, which tells others the way to its owner, one write after the other. Without a writable
 * home folder programs still run; the hard end on every object then does the lease's work.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  #record: LiveRecord;
  /** What others see; null: nothing yet. */
  #shown: LiveRecord | null = null;
  #peerAddress: string | null = null;
  #isRemoved = false;
  #written: Promise<boolean>;
  readonly #removing = Promise.withResolvers<void>();

  constructor(record: LiveRecord, options: RecordWriterOptions) {
    this.#options = options;
    this.#record = record;
    this.#written = this.#write();
  }

  get record(): LiveRecord {
    return this.#record;
  }

  /** Changes what is said of its work; others see the newest a moment later. */
  setWork(work: string): void {
    if (this.#record.work === work) return;
    this.#record = { ...this.#record, work };
    this.#written = this.#written.then(async (isThere) => {
      if (isThere && !this.#isRemoved && this.#shown !== this.#record) await this.#show();
      return isThere;
    });
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    this.#removing.resolve();
    if (!(await this.#written)) return;
    await this.#bestEffort("record", () => this.#options.records.delete(this.record.id));
  }

  /** Resolves to whether there is anything to remove. */
  async #write(): Promise<boolean> {
    if (this.record.kind === "execute" && (await settlesWithin(this.#removing.promise, oneShotMs))) return false;
    await this.#bestEffort("peer server", async () => void (this.#peerAddress = await this.#options.peerServer.open()));
    await this.#show();
    return true;
  }

  async #show(): Promise<void> {
    const shown = (this.#shown = this.#record);
    const peerAddress = this.#peerAddress;
    await this.#bestEffort("record", () => this.#options.records.add({ ...shown, peerAddress }));
  }

  async #bestEffort(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.warn({ sandbox: this.record.id, err: error }, `the ${what} could not be made`);
    }
  }
}

interface ContainerStarterOptions extends Pick<Kit, "logger" | "now"> {
  readonly leases: Pick<Leases, "hold">;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  /** Collects sandboxes that could not be removed, their engines' names by their ids; default: they are not tracked. */
  readonly stranded?: Map<string, string> | undefined;
}

/** How long an engine may take to report whether it created a container after all, and to remove it. */
const lookMs = 10_000;

/** Creates the containers of sandboxes; whatever goes wrong, nothing is left behind. */
class ContainerStarter {
  /** Ids of sandboxes that the engine was asked to create and that are not known to be live or gone. */
  readonly doubtful: Set<string> = new Set();
  /**
   * Sandboxes whose removal failed or is uncertain, until a sweep has removed them: their engines' names by their ids.
   */
  readonly stranded: Map<string, string>;
  readonly #options: ContainerStarterOptions;

  constructor(options: ContainerStarterOptions) {
    this.#options = options;
    this.stranded = options.stranded ?? new Map<string, string>();
  }

  /** Its id counts as uncertain until the caller registers it as live. @throws what the engine throws */
  async start(id: string, engine: Engine, plan: SandboxPlan, signal: AbortSignal): Promise<Container> {
    const { logger, owner, now } = this.#options;
    let container: Container | undefined;
    try {
      await this.#holdLease(id);
      this.doubtful.add(id);
      const spec = labelledSpec(id, plan, { owner, expiresAtMs: now() + plan.lifetimeMs });
      container = await engine.create(spec, { signal });
      await container.start({ signal });
      return container;
    } catch (error) {
      logger.info({ sandbox: id, kind: plan.kind, engine: engine.name, err: error }, "sandbox not started");
      await this.#undo(id, engine, container);
      throw error;
    }
  }

  /** Without a writable home folder there is no lease; the expiry time on every object does its work then. */
  async #holdLease(id: string): Promise<void> {
    try {
      await this.#options.leases.hold();
    } catch (error) {
      this.#options.logger.warn({ sandbox: id, err: error }, "the lease could not be made");
    }
  }

  async #undo(id: string, engine: Engine, container: Container | undefined): Promise<void> {
    try {
      if (container !== undefined) await container.remove();
      else if (this.doubtful.has(id)) await removeUnanswered(id, engine);
      this.doubtful.delete(id);
    } catch (error) {
      this.stranded.set(id, engine.name);
      this.doubtful.delete(id);
      // The caller gets the reason for the failed start; the leftovers are for the log and the sweep.
      this.#options.logger.error({ sandbox: id, err: error }, "sandbox could not be removed after a failed start");
    }
  }
}

/** An engine that failed to answer may still have created the container, so it is asked what it has. */
async function removeUnanswered(id: string, engine: Engine): Promise<void> {
  const options = { signal: AbortSignal.timeout(lookMs) };
  const found = (await engine.list({ [labels.sandbox]: id }, options)).filter(isOwnContainer);
  await Promise.all(found.map((summary) => summary.remove(options)));
}

/** Who asks, and the signal that cancels the request. */
export interface Caller {
  readonly principal: string;
  /** Id of the run that is asked for, where the caller knows it already; default: a new one. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SandboxesOptions extends Pick<Kit, "logger" | "now" | "platform"> {
  readonly admission: Admission;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  /** Opened with the first sandbox. */
  readonly peerServer: WayIn;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  /** As of `ContainerStarterOptions`. */
  readonly stranded?: ContainerStarterOptions["stranded"];
  /** How many that were asked for may start at once on each engine; further ones wait in order. Default: any number. */
  readonly startsAtOnce?: number | undefined;
  /** Told of every sandbox and its runs; default: none. */
  readonly observers?: readonly SandboxObserver[] | undefined;
  /** Told what takes the time of a start; default: nobody is. */
  readonly tracer?: Tracer | undefined;
}

interface StartOptions {
  readonly capabilities: Capabilities;
  readonly signal: AbortSignal;
}

/** What of this server's own data belongs to a sandbox that somebody has. */
interface Held {
  readonly record: RecordWriter;
  readonly place: Place;
  /** Whether the observers have been told that it ends. */
  isEndTold: boolean;
}

/** Who takes a sandbox, and what it is to them. */
export interface Adoption {
  readonly principal: string;
  readonly place: Place;
  /** What it is to be called and to be marked with, where that is not as it was created. */
  readonly identity?: Partial<SandboxIdentity> | undefined;
  /** When its caller began to wait for it, milliseconds since the epoch. */
  readonly begunMs: number;
}

/**
 * Admits requests, within the limit on how many sandboxes may live for them at once, starts sandboxes, and knows those
 * that live. A sandbox may be created before anybody asks for it; the request that takes it over is admitted first.
 */
export class Sandboxes implements AsyncDisposable {
  readonly #options: SandboxesOptions;
  readonly #live = new Map<string, Sandbox>();
  readonly #held = new Map<string, Held>();
  /** Those that nobody has asked for yet, and what they were made from. */
  readonly #spare = new Map<Sandbox, SandboxPlan>();
  readonly #starting = new Set<Promise<Sandbox>>();
  readonly #containers: ContainerStarter;
  readonly #gate: StartGate;
  readonly #room: RoomOfWaiting;
  readonly #closing = new AbortController();

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#containers = new ContainerStarter(options);
    this.#gate = new StartGate(options.startsAtOnce ?? Infinity);
    this.#room = new RoomOfWaiting({
      now: options.now,
      waitingOn: (engine) => [...this.#spare.keys()].filter(({ engineName }) => engineName === engine),
      onGiveWay: (engine, sandboxes) => options.logger.info({ engine, sandboxes }, "waiting sandboxes make room"),
    });
  }

  /** Sandboxes that are running for somebody now. */
  get live(): readonly Sandbox[] {
    return [...this.#live.values()];
  }

  /** The sandbox of that id when it runs now. */
  find(id: string): Sandbox | undefined {
    const found = this.#live.get(id);
    return found?.state === "running" ? found : undefined;
  }

  /** What is written down of those that run now and are the principal's, in the order of their start. */
  recordsOf(principal: string): readonly LiveRecord[] {
    return [...this.#held.values()].map(({ record }) => record.record).filter((each) => each.principal === principal);
  }

  /** Ids of those that may exist on their engine: live ones, those in the making, and those that could not be removed. */
  get left(): readonly string[] {
    const { doubtful, stranded } = this.#containers;
    return [...[...this.#live.values(), ...this.#spare.keys()].map(({ id }) => id), ...doubtful, ...stranded.keys()];
  }

  /**
   * Waits for a place and starts a sandbox in it; whatever goes wrong, nothing is left behind.
   * @throws CAPACITY, CANCELLED, and what the engine throws
   */
  open(engine: Engine, plan: SandboxPlan, caller: Caller): Promise<Sandbox> {
    return this.#track(caller.signal, async (signal) => {
      // An engine that is down is reported at once, not at the end of the queue.
      const capabilities = await engine.capabilities({ signal, ociRuntime: plan.ociRuntime });
      const place = await this.admit({ ...caller, signal });
      const begunMs = this.#options.now();
      try {
        const start = (): Promise<Sandbox> => this.#start(engine, plan, { capabilities, signal });
        const sandbox = await this.#gate.pass(engine.name, signal, () => this.#room.start(engine.name, plan, start));
        this.#handOver(sandbox, plan, { principal: caller.principal, place, begunMs });
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
   * Starts a sandbox for nobody in particular, outside the limit: how many may wait is for its maker to bound. Nobody is
   * told of it, and nothing written down, before somebody takes it; on its engine it has its labels like every other.
   * @throws CANCELLED, and what the engine throws
   */
  create(engine: Engine, plan: SandboxPlan, options: CallOptions = {}): Promise<Sandbox> {
    return this.#track(options.signal, async (signal) => {
      const capabilities = await engine.capabilities({ signal, ociRuntime: plan.ociRuntime });
      const sandbox = await this.#start(engine, plan, { capabilities, signal });
      this.#spare.set(sandbox, plan);
      this.#containers.doubtful.delete(sandbox.id);
      return sandbox;
    });
  }

  /**
   * Hands a sandbox that `create` has started over to a principal, whose place it takes until it is removed.
   * @throws SANDBOX_LOST when it does not live any more, ALREADY_EXISTS when there is one of that id; the place stays the
   * caller's then
   */
  adopt(sandbox: Sandbox, adoption: Adoption): void {
    if (sandbox.state !== "running") throw hasEnded(sandbox);
    const plan = this.#spare.get(sandbox);
    if (plan === undefined) throw new TypeError("The sandbox belongs to somebody already.");
    this.#assertFree(adoption.identity?.id ?? sandbox.id);
    this.#spare.delete(sandbox);
    sandbox.assign(adoption.identity ?? {});
    this.#handOver(sandbox, plan, adoption);
  }

  /** Removes every sandbox, also those that are being started, and lets no new one in; what remains is `left`. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A removal that fails is already in the log.
    const removeLive = (): Promise<unknown> =>
      Promise.allSettled([...this.live, ...this.#spare.keys()].map((sandbox) => sandbox.remove()));
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

  /** @throws ALREADY_EXISTS */
  #assertFree(id: string): void {
    if (this.#held.has(id)) throw new GloveboxError("ALREADY_EXISTS", `There is a sandbox ${id} already.`);
  }

  async #start(engine: Engine, plan: SandboxPlan, options: StartOptions): Promise<Sandbox> {
    const { logger, owner, now, observers = [], tracer = noTracer } = this.#options;
    const { capabilities, signal } = options;
    const { id = createId("sbx") } = plan;
    this.#assertFree(id);
    const traced = {
      "glovebox.sandbox.id": id,
      "glovebox.sandbox.kind": plan.kind,
      "glovebox.engine.name": engine.name,
    };
    const container = await tracer.step("start sandbox", traced, () =>
      this.#containers.start(id, engine, plan, signal),
    );
    logger.info({ sandbox: id, kind: plan.kind, engine: engine.name }, "sandbox started");
    const sandbox: Sandbox = new Sandbox({
      id,
      engineName: engine.name,
      capabilities,
      container,
      kind: plan.kind,
      labels: plan.labels ?? {},
      givenName: plan.givenName ?? null,
      image: capabilities.images ? (plan.shownImage ?? plan.image) : null,
      policy: sandboxPolicy(engine.name, plan),
      observers,
      now,
      programEnvironment: plan.programEnvironment ?? {},
      writablePaths: writablePaths(plan),
      folders: fixedFolders(plan),
      platform: this.#options.platform,
      logger,
      ownershipFor: (lifetimeMs) => ownershipLabels({ owner, expiresAtMs: now() + lifetimeMs }),
      onWork: (work) => this.#held.get(sandbox.id)?.record.setWork(work),
      onLeaving: () => {
        this.#held.get(sandbox.id)?.place.returning();
        this.#tellEnd(sandbox.id);
      },
      onRemoved: (isGone) => this.#forget(sandbox, isGone),
    });
    return sandbox;
  }

  /** From now on it is known as its principal's, and its end is reported. */
  #handOver(sandbox: Sandbox, plan: SandboxPlan, { principal, place, begunMs }: Adoption): void {
    const { logger, owner, now, observers = [] } = this.#options;
    const { id, engineName: engine, startedAs, labels, givenName, image } = sandbox;
    const { kind, limits } = plan;
    const shown = { name: givenName ?? undefined, image: image ?? undefined };
    const record = { id, startedAs, engine, kind, principal, owner, createdAtMs: now(), labels, ...shown };
    this.#held.set(id, { record: new RecordWriter(record, this.#options), place, isEndTold: false });
    this.#live.set(id, sandbox);
    const startMs = Math.max(0, now() - begunMs);
    for (const observer of observers) observer.sandboxOpened?.({ sandbox, engine, kind, principal, limits, startMs });
    this.#containers.doubtful.delete(startedAs);
    logger.info({ sandbox: id, startedAs, principal }, "sandbox handed over");
  }

  async #forget(sandbox: Sandbox, isGone: boolean): Promise<void> {
    const { id } = sandbox;
    const held = this.#held.get(id);
    this.#spare.delete(sandbox);
    if (!isGone) this.#containers.stranded.set(sandbox.startedAs, sandbox.engineName);
    if (held === undefined) return;
    this.#tellEnd(id);
    this.#live.delete(id);
    this.#held.delete(id);
    this.#room.ended(sandbox.engineName);
    held.place.release();
    await held.record.remove();
  }

  /** Once, and before a run is answered behind which its sandbox is removed: alerts that end with it belong to the answer. */
  #tellEnd(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined || held.isEndTold) return;
    held.isEndTold = true;
    for (const observer of this.#options.observers ?? []) observer.sandboxRemoved?.(id);
  }
}

function hasEnded({ id }: Sandbox): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The sandbox ${id} has ended.`);
}
