import { setTimeout as sleep } from "node:timers/promises";
import { untilCancelled } from "../../../base/abort.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EngineTrouble } from "../../engine.ts";
import type { RestartRule } from "../../mend/restart-rule.ts";
import { looksLikeNetworkTimeout } from "./network-timeouts.ts";
import type { RestartRecord } from "./restart-record.ts";

export interface SelfHealOptions {
  readonly rule: RestartRule;
  /** Ids of containers that run on the service, whoever made them. */
  readonly live: () => Promise<readonly string[]>;
  /** Stops and starts the service. */
  readonly restart: () => Promise<void>;
  readonly record: RestartRecord;
  readonly now: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** How long other runs may take to end or to fail too, and how often that is looked at. */
  readonly patience?: { readonly waitMs: number; readonly lookMs: number } | undefined;
}

/** After a restart there is no other one for this long. */
const cooldownMs = 60_000;
const usualPatience = { waitMs: 3_000, lookMs: 250 };

type Decision = { readonly restarted: boolean; readonly why: string; readonly context?: object };

/**
 * Restarts a service whose network looks dead, so that a run can be tried once more (SPEC AG4). Runs that fail together
 * wait for one decision; each decision is logged.
 */
export class SelfHeal {
  readonly #options: SelfHealOptions;
  /** Containers of the runs that wait for the decision. */
  readonly #waiting = new Map<string, number>();
  #deciding: Promise<Decision> | undefined;

  constructor(options: SelfHealOptions) {
    this.#options = options;
  }

  /** Whether the service was restarted since the run began, so that another try is worth it. @throws CANCELLED */
  async mend({ text, container, beganAtMs }: EngineTrouble, signal?: AbortSignal): Promise<boolean> {
    if (!looksLikeNetworkTimeout(text)) return false;
    if (await this.#wasRestarted(beganAtMs)) return true;
    if (container !== undefined) this.#count(container, 1);
    try {
      this.#deciding ??= this.#decide().finally(() => (this.#deciding = undefined));
      const { restarted } = await untilCancelled(this.#deciding, signal);
      return restarted;
    } finally {
      if (container !== undefined) this.#count(container, -1);
    }
  }

  async #wasRestarted(beganAtMs: number): Promise<boolean> {
    const lastMs = await this.#options.record.lastMs();
    if (lastMs === null || lastMs < beganAtMs) return false;
    this.#log({ restarted: true, why: "it was restarted since the run began" });
    return true;
  }

  async #decide(): Promise<Decision> {
    const decision = await this.#tryRestart().catch((error: unknown) => ({
      restarted: false,
      why: "the restart failed",
      context: { error: error instanceof Error ? error.message : String(error) },
    }));
    this.#log(decision);
    return decision;
  }

  async #tryRestart(): Promise<Decision> {
    const { rule, record, restart, now } = this.#options;
    if (rule === "never") return { restarted: false, why: "the configuration allows no restart" };
    const others = await this.#others();
    if (others.length > 0 && rule !== "always") {
      return { restarted: false, why: "other sandboxes are live", context: { live: others.length } };
    }
    using lock = record.lock();
    if (lock === null) return { restarted: false, why: "another process is restarting it" };
    const lastMs = await record.lastMs();
    if (lastMs !== null && now() - lastMs < cooldownMs) {
      const seconds = Math.round((now() - lastMs) / 1000);
      return { restarted: false, why: "the last restart was too short ago", context: { seconds_ago: seconds } };
    }
    // Before it, so that one that fails is not tried again at once.
    await record.write(now());
    this.#options.logger.warn(
      { live: others.length },
      "Apple's container service is restarted: its network looks dead.",
    );
    await restart();
    await record.write(now());
    return { restarted: true, why: "it was restarted" };
  }

  /** Live containers of runs that do not wait here, once those have had time to. */
  async #others(): Promise<readonly string[]> {
    const { live, patience = usualPatience } = this.#options;
    for (let waitedMs = 0; ; waitedMs += patience.lookMs) {
      const others = (await live()).filter((id) => !this.#waiting.has(id));
      if (others.length === 0 || waitedMs >= patience.waitMs) return others;
      await sleep(patience.lookMs);
    }
  }

  #count(container: string, change: number): void {
    const count = (this.#waiting.get(container) ?? 0) + change;
    if (count > 0) this.#waiting.set(container, count);
    else this.#waiting.delete(container);
  }

  #log({ restarted, why, context }: Decision): void {
    const fields = { restarted, why, ...context };
    this.#options.logger.info(fields, `After what looks like a dead network of Apple's container service: ${why}.`);
  }
}
