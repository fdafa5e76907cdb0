import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import type { Container, Engine } from "../engines/engine.ts";
import type { ContainerSpec } from "../engines/container-spec.ts";
import { labels, managed } from "../engines/labels.ts";
import type { Admission, Place } from "./admission.ts";
import type { Leases } from "./leases.ts";
import type { SandboxRecord, SandboxRecords } from "./sandbox-records.ts";
import { Sandbox } from "./sandbox.ts";

/** Who asks, and the signal that gives the request up. */
export interface Caller {
  readonly principal: string;
  readonly signal?: AbortSignal | undefined;
}

/** Everything of a container's spec but what `Sandboxes` fills in by itself. */
export type SandboxPlan = Omit<ContainerSpec, "name" | "labels"> & {
  readonly kind: string;
  /** Hard end: after it any sweep may remove the sandbox. */
  readonly lifetimeMs: number;
};

export interface SandboxesOptions {
  readonly admission: Admission;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How often a server looks whether another command asks for the removal of one of its sandboxes. */
const removalWatchMs = 500;

/** Starts sandboxes, within the limit on how many may live at once, and knows those that live. */
export class Sandboxes implements AsyncDisposable {
  readonly #options: SandboxesOptions;
  readonly #live = new Map<string, Sandbox>();
  readonly #starting = new Set<Promise<Sandbox>>();
  readonly #closing = new AbortController();
  #removalWatch: NodeJS.Timeout | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /** Sandboxes that run now. */
  get live(): readonly Sandbox[] {
    return [...this.#live.values()];
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

  /** Removes every sandbox, also those that are being started, and lets no new one in. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#removalWatch);
    await Promise.allSettled(this.#starting);
    const removals = await Promise.allSettled(this.live.map((sandbox) => sandbox.remove()));
    const failed = removals.find((removal) => removal.status === "rejected");
    if (failed !== undefined) throw failed.reason;
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
      await this.#bestEffort(id, "lease", this.#options.leases.hold());
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
      logger: this.#options.logger,
      onRemoved: async () => {
        this.#live.delete(id);
        place.release();
        await recorded;
        await this.#bestEffort(id, "record", this.#options.records.delete(id));
      },
    });
    this.#live.set(id, sandbox);
    return sandbox;
  }

  /** Writes the record, and from now on looks for marks beside the records that ask for a removal. */
  async #record(record: SandboxRecord): Promise<void> {
    this.#removalWatch ??= setInterval(() => {
      if (this.#live.size > 0) void this.#removeAsked();
    }, removalWatchMs).unref();
    await this.#bestEffort(record.id, "record", this.#options.records.add(record));
  }

  async #removeAsked(): Promise<void> {
    const asked = await this.#options.records.asked();
    const removals = asked.map((id) => this.#live.get(id)).filter((sandbox) => sandbox !== undefined);
    // A removal that fails is in the log already.
    await Promise.allSettled(removals.map((sandbox) => sandbox.remove()));
  }

  /** Without a writable home folder programs still run; the hard end on every object then does the lease's work. */
  async #bestEffort(sandbox: string, what: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#options.logger.warn({ sandbox, err: error }, `the ${what} could not be written`);
    }
  }

  #spec(id: string, plan: SandboxPlan, principal: string): ContainerSpec {
    const { kind, lifetimeMs, ...rest } = plan;
    return {
      ...rest,
      name: `glovebox-${id}`,
      labels: {
        ...managed,
        [labels.owner]: this.#options.owner,
        [labels.kind]: kind,
        [labels.sandbox]: id,
        [labels.principal]: principal,
        [labels.expiresAt]: new Date(this.#options.now() + lifetimeMs).toISOString(),
      },
    };
  }

  async #undo(id: string, container: Container | undefined, place: Place): Promise<void> {
    try {
      await container?.remove();
    } catch (error) {
      // The caller learns why the start failed; that the rest stayed behind is for the log and the sweep.
      this.#options.logger.error({ sandbox: id, err: error }, "sandbox could not be removed after a failed start");
    } finally {
      place.release();
    }
  }
}
