import { randomInt } from "node:crypto";
import type { Config } from "../config/config.ts";
import { bunVersion } from "../base/bun-packages.ts";
import { fetchBun } from "../base/fetch-bun.ts";
import type { Logger } from "../base/logger.ts";
import { noTracer, type Tracer } from "../base/tracer.ts";
import { bunArchives } from "../config/host/bun-archives.ts";
import { passableStateFolder, type Host } from "../config/host/host.ts";
import type { EngineSurroundings } from "../engines/engine-surroundings.ts";

/** What engines need to know about this machine. */
export function engineSurroundings(
  config: Config,
  host: Host,
  tracer: Tracer = noTracer,
  logger?: Logger,
  owner?: EngineSurroundings["owner"],
): EngineSurroundings {
  const { platform, architecture, uid, pid, executable, stateDirectory } = host;
  return {
    platform,
    architecture,
    uid,
    owner,
    processId: pid,
    executable,
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
