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
  /** Where sandboxes go that could not be removed, their engines' names by their ids; default: nobody looks for them. */
  readonly stranded?: Map<string, string> | undefined;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long an engine may take to say whether it has made a container after all, and to remove it. */
const lookMs = 10_000;

/** Makes the containers of sandboxes; whatever goes wrong, nothing is left behind. */
export class ContainerStarter {
  /** Ids of sandboxes that their engine was told to make, and that are not known to be gone or live. */
  readonly doubtful: Set<string> = new Set();
  /** Those that could not be removed, or may not have been, until a sweep has: their engines' names by their ids. */
  readonly stranded: Map<string, string>;
  readonly #options: ContainerStarterOptions;

  constructor(options: ContainerStarterOptions) {
    this.#options = options;
    this.stranded = options.stranded ?? new Map<string, string>();
  }

  /** Its id stays among the doubtful ones until the caller knows it as live. @throws what the engine throws */
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

  /** Without a writable home folder there is none; the hard end on every object then does the lease's work. */
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
      // The caller learns why the start failed; that the rest stayed behind is for the log and the sweep.
      this.#options.logger.error({ sandbox: id, err: error }, "sandbox could not be removed after a failed start");
    }
  }
}

/** An engine that fails to answer may have made the container all the same, so it is asked what it has. */
async function removeUnanswered(id: string, engine: Engine): Promise<void> {
  const options = { signal: AbortSignal.timeout(lookMs) };
  const found = (await engine.list({ [labels.sandbox]: id }, options)).filter(isOwnContainer);
  await Promise.all(found.map((summary) => summary.remove(options)));
}
