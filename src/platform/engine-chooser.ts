import type { Logger } from "../base/kit.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import type { ChosenEngine, EngineChoice, Engines } from "../engines/discover.ts";
import { productEngines } from "../engines/engine-table.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { checkChoice } from "../policy/request/invalid-value.ts";
import { weakestIsolation, decideMinIsolation, type Isolation } from "../policy/isolation.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import { openOwnState } from "./own-state.ts";
import type { EngineChooser, EngineNeeds, IsolationKind } from "../operations/handling/needs.ts";

/**
 * The kind of front end that requests come from: a person's own (command line, library), where they may accept level
 * `preload` by name; `stdio`, an agent on that person's machine; or a `server`, for which the embedded engine never
 * substitutes for containers (SPEC RT2, RT5).
 */
export type Door = "person" | "stdio" | "server";

export interface EngineChooserParts {
  readonly config: Config;
  readonly host: Host;
  readonly door: Door;
  /** Engine for requests that name none; default: the configuration's. */
  readonly defaultEngine: string | undefined;
  /** Whether sessions go to containers, if an engine has them and the configuration leaves it open (SPEC RT4). */
  readonly prefersContainers: boolean;
  readonly engines: Engines;
  readonly reaper: Reaper;
  readonly logger: Logger;
}

/** Contacts no engine yet. @throws INVALID_REQUEST if there is no engine of that name */
export function createEngineChooser(parts: EngineChooserParts): EngineChooser {
  const { config, host, door, defaultEngine, prefersContainers, engines, reaper, logger } = parts;
  const valid: readonly EngineChoice[] = ["auto", ...engines.names];
  if (defaultEngine !== undefined) checkChoice(defaultEngine, [...new Set([...valid, ...productEngines])], "engine");
  const inContainers = config.executionMode === "container";
  const minIsolation = (kind: IsolationKind, requested?: Isolation): Isolation => {
    const isOpen = kind === "session" && door === "stdio" && !inContainers;
    const minimum =
      isOpen && !config.explicitSettings.includes("min_isolation") ? weakestIsolation : config.minIsolation;
    return decideMinIsolation(requested, { minimum, mayLower: door === "person" });
  };
  let ownState: Promise<void> | undefined;
  const openState = (): Promise<void> => (ownState ??= openOwnState(host));
  const choose = async (name: string, needs: EngineNeeds, kind: IsolationKind): Promise<ChosenEngine> => {
    const { signal, containers = false } = needs;
    await openState();
    const choice = checkChoice(name, valid, "engine");
    const allowEmbedded = door !== "server" && !inContainers && !containers;
    const options = { allowEmbedded, minIsolation: needs.minIsolation ?? minIsolation(kind), signal };
    try {
      const chosen = await engines.choose(choice, options);
      reaper.watch(chosen.engine);
      return chosen;
    } catch (error) {
      // Users of the command line see it there.
      if (door !== "person") logUnavailable(logger, error);
      throw error;
    }
  };
  const namedEngine = defaultEngine ?? config.containerRuntime;
  // Settled once: a session must not be isolated more weakly because an engine does not answer at that moment.
  let sessionsInContainers = inContainers;
  return {
    minIsolation,
    openState,
    chooseEngine: (name, needs = {}) => choose(name ?? namedEngine, needs, "other"),
    chooseSessionEngine: (name, needs = {}) =>
      choose(
        name ?? defaultEngine ?? (sessionsInContainers ? config.containerRuntime : (engines.embedded ?? "auto")),
        needs,
        "session",
      ),
    assertEngineAnswers: async (signal) => {
      if (inContainers || namedEngine !== "auto") await choose(namedEngine, { signal }, "other");
      if (!prefersContainers || config.executionMode !== null || defaultEngine !== undefined) return null;
      const options = { allowEmbedded: false, minIsolation: config.minIsolation, signal };
      const found = await engines.choose(config.containerRuntime, options).catch((error: unknown) => {
        if (error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE") return null;
        throw error;
      });
      sessionsInContainers = found !== null;
      return { engine: found?.engine.name ?? null };
    },
  };
}

/**
 * Logs an engine that does not answer, with instructions to start it (SPEC RT3); other errors are left to the caller.
 */
function logUnavailable(logger: Logger, error: unknown): void {
  if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") return;
  logger.error({ context: error.context, howToStart: error.suggestion }, error.message);
}
