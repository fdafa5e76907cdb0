import { randomInt } from "node:crypto";
import type { Config } from "../config/config.ts";
import { bunVersion, fetchBun } from "../base/bun-packages.ts";
import { noTracer } from "../base/tracer.ts";
import { bunArchives } from "../config/host/host-paths.ts";
import { passableStateFolder, type Host } from "../config/host/host.ts";
import type { EngineSurroundings } from "../engines/engine-surroundings.ts";

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
