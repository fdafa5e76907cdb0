import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import type { Container, Engine } from "../engines/engine.ts";
import type { ContainerSpec } from "../engines/container-spec.ts";
import { labels, managed } from "../engines/labels.ts";
import type { Admission, Place } from "./admission.ts";
import type { Leases } from "./owners/leases.ts";
import { containerName } from "./owners/left-over.ts";
import { writablePaths, writablePathsLabel } from "./mounts/writable-paths.ts";
import type { SandboxDoor } from "./peers/peer-server.ts";
import type { SandboxRecord, SandboxRecords } from "./owners/sandbox-records.ts";
import { Sandbox } from "./sandbox.ts";

/** Who asks, and the signal that gives the request up. */
export interface Caller {
  readonly principal: string;
  readonly signal?: AbortSignal | undefined;
}

/** Everything of a container's spec but what `Sandboxes` fills in by itself. */
export type SandboxPlan = Omit<ContainerSpec, "name" | "labels"> & {
  readonly kind: string;
  /** Hard end: after it any sweep may remove what is left of the sandbox, once nothing runs in it. */
  readonly lifetimeMs: number;
  /** Variables of its programs, which those of visitors get too; none is a secret. */
  readonly programEnvironment?: Readonly<Record<string, string>> | undefined;
};

export interface SandboxesOptions {
  readonly admission: Admission;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  /** Lets other processes of this user in; opened with the first sandbox. */
  readonly door: Pick<SandboxDoor, "open">;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Starts sandboxes, within the limit on how many may live at once, and knows those that live. */
export class Sandboxes implements AsyncDisposable {
  readonly #options: SandboxesOptions;
  readonly #live = new Map<string, Sandbox>();
  readonly #starting = new Set<Promise<Sandbox>>();
  /** Ids of those that their engine was told to make, and that are not known to be gone or live. */
  readonly #doubtful = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /** Sandboxes that run now. */
  get live(): readonly Sandbox[] {
    return [...this.#live.values()];
  }

  /** The sandbox of that id when it runs now. */
  find(id: string): Sandbox | undefined {
    return this.#live.get(id);
  }

  /** Ids of those that may exist on their engine: live ones, those in the making, and those that could not be removed. */
  get left(): readonly string[] {
    return [...this.#live.keys(), ...this.#doubtful];
  }

  /**
   * Waits for a place and starts a sandbox; whatever goes wrong, nothing is left behind.
   * @throws CAPACITY, CANCELLED, and what the engine throws
   */
  async open(engine: Engine, plan: SandboxPlan, caller: Caller): Promise<Sandbox> {
    const signal = AbortSignal.any([this.#closing.signal, ...(caller.signal ? [caller.signal] : [])]);
    const starting = this.#open(engine, plan, { ...caller, signal });
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
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

  async #open(engine: Engine, plan: SandboxPlan, caller: Caller): Promise<Sandbox> {
    const capabilities = await engine.capabilities({ signal: caller.signal, ociRuntime: plan.ociRuntime });
    const place = await this.#options.admission.acquire(caller.principal, caller.signal);
    const id = createId("sbx");
    let container: Container | undefined;
    try {
      await this.#bestEffort(id, "lease", () => this.#options.leases.hold());
      this.#doubtful.add(id);
      container = await engine.create(this.#spec(id, plan, caller.principal), { signal: caller.signal });
      await container.start({ signal: caller.signal });
    } catch (error) {
      this.#options.logger.info(
        { sandbox: id, kind: plan.kind, engine: engine.name, err: error },
        "sandbox not started",
      );
      await this.#undo(id, container, place);
      throw error;
    }
    const { principal } = caller;
    this.#options.logger.info({ sandbox: id, kind: plan.kind, engine: engine.name, principal }, "sandbox started");
    const recorded = this.#record({
      id,
      engine: engine.name,
      kind: plan.kind,
      principal: caller.principal,
      owner: this.#options.owner,
      createdAtMs: this.#options.now(),
    });
    const sandbox = new Sandbox({
      id,
      engineName: engine.name,
      capabilities,
      container,
      programEnvironment: plan.programEnvironment ?? {},
      writablePaths: writablePaths(plan),
      logger: this.#options.logger,
      ownershipFor: (lifetimeMs) => this.#ownership(lifetimeMs),
      onRemoved: async (isGone) => {
        this.#live.delete(id);
        if (!isGone) this.#doubtful.add(id);
        place.release();
        await recorded;
        await this.#bestEffort(id, "record", () => this.#options.records.delete(id));
      },
    });
    this.#live.set(id, sandbox);
    this.#doubtful.delete(id);
    return sandbox;
  }

  /** Writes the record, which tells others the way to its owner. */
  async #record(record: Omit<SandboxRecord, "door">): Promise<void> {
    let door: string | null = null;
    await this.#bestEffort(record.id, "door", async () => void (door = await this.#options.door.open()));
    await this.#bestEffort(record.id, "record", () => this.#options.records.add({ ...record, door }));
  }

  /** Without a writable home folder programs still run; the hard end on every object then does the lease's work. */
  async #bestEffort(sandbox: string, what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.warn({ sandbox, err: error }, `the ${what} could not be made`);
    }
  }

  #spec(id: string, plan: SandboxPlan, principal: string): ContainerSpec {
    const { kind, lifetimeMs, programEnvironment: _, ...rest } = plan;
    return {
      ...rest,
      name: containerName(id),
      labels: {
        ...this.#ownership(lifetimeMs),
        [labels.kind]: kind,
        [labels.sandbox]: id,
        [labels.principal]: principal,
        ...writablePathsLabel(writablePaths(plan)),
      },
    };
  }

  #ownership(lifetimeMs: number): Readonly<Record<string, string>> {
    return {
      ...managed,
      [labels.owner]: this.#options.owner,
      [labels.expiresAt]: new Date(this.#options.now() + lifetimeMs).toISOString(),
    };
  }

  async #undo(id: string, container: Container | undefined, place: Place): Promise<void> {
    try {
      await container?.remove();
      this.#doubtful.delete(id);
    } catch (error) {
      // The caller learns why the start failed; that the rest stayed behind is for the log and the sweep.
      this.#options.logger.error({ sandbox: id, err: error }, "sandbox could not be removed after a failed start");
    } finally {
      place.release();
    }
  }
}
