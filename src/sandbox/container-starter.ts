import type { Logger } from "../base/logger.ts";
import type { Container, Engine } from "../engines/engine.ts";
import { labels } from "../engines/labels.ts";
import { labelledSpec } from "./labelled-spec.ts";
import type { Leases } from "./owners/leases.ts";
import { isOwnContainer } from "./owners/left-over.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

export interface ContainerStarterOptions {
  readonly leases: Pick<Leases, "hold">;
  /** Identity of this server, for the owner label. */
  readonly owner: string;
  /** Collects sandboxes that could not be removed, their engines' names by their ids; default: they are not tracked. */
  readonly stranded?: Map<string, string> | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long an engine may take to report whether it created a container after all, and to remove it. */
const lookMs = 10_000;

/** Creates the containers of sandboxes; whatever goes wrong, nothing is left behind. */
export class ContainerStarter {
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
