import type { Logger } from "../../../base/logger.ts";
import type { Engine } from "../../engine.ts";
import type { RestartRule } from "../../mend/restart-rule.ts";
import type { AppleEngine } from "../apple-engine.ts";
import { fileRecord } from "./restart-record.ts";
import { SelfHeal } from "./self-heal.ts";

export interface HealingOptions {
  readonly rule: RestartRule;
  /** Where the time of the last restart is kept, for all processes of the user. */
  readonly folder: string;
  readonly now: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** The engine with a service that is restarted when its network looks dead. */
export function healingEngine(engine: AppleEngine, { rule, folder, now, logger }: HealingOptions): Engine {
  const selfHeal = new SelfHeal({
    ...{ rule, now, logger },
    live: () => engine.liveContainers(),
    restart: () => engine.restartService(),
    record: fileRecord(folder),
  });
  return {
    name: engine.name,
    images: engine.images,
    probe: (options) => engine.probe(options),
    capabilities: (options) => engine.capabilities(options),
    create: (spec, options) => engine.create(spec, options),
    list: (labels, options) => engine.list(labels, options),
    mend: (trouble, { signal } = {}) => selfHeal.mend(trouble, signal),
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}
