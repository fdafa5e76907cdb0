import path from "node:path";
import { openOwnFolder } from "../base/own-folder.ts";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import { passableStateFolder, type Host } from "../config/host/host.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import type { ChosenEngine, EngineChoice, Engines } from "../engines/discover.ts";
import { productEngines } from "../engines/engine-table.ts";
import { checkChoice } from "../policy/request/invalid-value.ts";
import { isAtLeast, weakestIsolation, type Isolation } from "../policy/isolation.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import type { EngineChooser, EngineNeeds, IsolationKind } from "../operations/settle.ts";
import { randomInt } from "node:crypto";
import { bunVersion, fetchBun } from "../base/bun-packages.ts";
import { noTracer } from "../base/tracer.ts";
import { bunArchives } from "../config/host/host-paths.ts";
import type { EngineSurroundings } from "../engines/engine-surroundings.ts";

/**
 * Creates the state folder, or checks that only this user can write to the existing one: its content decides what is
 * removed, and which processes this user's others talk to. There is no substitute for it: what a killed process leaves
 * behind is found by the next one only through the same records.
 * @throws PERMISSION_DENIED, also if it cannot be created, for example because HOME is missing or not this user's
 */
export async function openOwnState(host: Pick<Host, "stateDirectory" | "uid" | "environment">): Promise<void> {
  const { stateDirectory, uid } = host;
  const remedy = "set XDG_STATE_HOME to a folder of this user's";
  // Podman's service may read a profile below it, as another user.
  const rules = { what: "the state folder", remedy, uid, mode: 0o700, maxMode: 0o755 };
  await openOwnFolder(stateDirectory, rules).catch((error: unknown) => {
    throw error instanceof GloveboxError ? error : notMade(host, error);
  });
}

interface IsolationFloor {
  /** What the deployment demands of runs that ask for nothing. */
  readonly minimum: Isolation;
  /** Whether a request may ask for less: the person's own command or code may, an agent must not accept it for them. */
  readonly mayLower: boolean;
}

/**
 * The isolation that a request demands of its engine.
 * @throws POLICY_DENIED for less than the deployment demands, where that is not the request's to accept
 */
export function decideMinIsolation(requested: Isolation | undefined, { minimum, mayLower }: IsolationFloor): Isolation {
  if (requested === undefined || mayLower || isAtLeast(requested, minimum)) return requested ?? minimum;
  throw new GloveboxError(
    "POLICY_DENIED",
    `min_isolation: expected "${minimum}" or stronger, which this deployment demands, got "${requested}".`,
    {
      suggestion: `Leave min_isolation out. Only who runs the server can accept less: --min-isolation ${requested} or GLOVEBOX_MIN_ISOLATION=${requested}`,
      context: { field: "min_isolation", min_isolation: minimum },
    },
  );
}

/** Messages for the error codes that other users' folders and broken disks cause. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOENT: "it does not exist",
  ENOTDIR: "it is not a folder",
  EROFS: "its disk is read-only",
  ENOSPC: "its disk is full",
  EDQUOT: "the user's share of its disk is used up",
};

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

/** What engines need to know about this machine. */
export function engineSurroundings(
  config: Config,
  host: Host,
  given: Partial<Pick<EngineSurroundings, "tracer" | "logger" | "owner">> = {},
): EngineSurroundings {
  const { platform, architecture, uid, pid, executable, stateDirectory } = host;
  const { tracer = noTracer, logger, owner } = given;
  return {
    ...{ platform, executable, architecture, uid, owner },
    processId: pid,
    environment: config.engineEnvironment,
    stateDirectory,
    passableStateDirectory: passableStateFolder,
    prebuiltOnly: config.prebuiltOnly,
    engineRestart: config.engineRestart,
    tracer,
    logger,
    fetchBun: (target) => {
      logger?.warn({ bun: bunVersion }, "fetching Bun, once for this user");
      return fetchBun(target, { ...host, bunArchives: bunArchives(host) });
    },
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    randomInteger: randomInt,
  };
}

function notMade({ environment }: Pick<Host, "environment">, cause: unknown): GloveboxError {
  const isNamed = path.isAbsolute(environment["XDG_STATE_HOME"] ?? "");
  const place = isNamed ? "the folder that XDG_STATE_HOME names" : "the home folder (HOME)";
  const message = `The state folder, which keeps records of sandboxes, cannot be made in ${place}: ${reasonOf(cause)}.`;
  return new GloveboxError("PERMISSION_DENIED", message, {
    suggestion: `Set ${isNamed ? "it" : "HOME, or XDG_STATE_HOME for this folder alone,"} to a folder that this user can write to.`,
    context: { reason: "no_state_folder" },
    cause,
  });
}

function reasonOf(cause: unknown): string {
  const code = errorCode(cause);
  return reasons[code] ?? (code === "" ? "unknown error" : code);
}

/**
 * Logs an engine that does not answer, with instructions to start it (SPEC RT3); other errors are left to the caller.
 */
function logUnavailable(logger: Logger, error: unknown): void {
  if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") return;
  logger.error({ context: error.context, howToStart: error.suggestion }, error.message);
}
