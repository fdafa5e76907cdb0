import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { SupervisedContainer } from "../../supervised/container/supervised-container.ts";
import { Cgroups } from "../cgroups/cgroups.ts";
import type { ContainerGroup } from "../cgroups/container-group.ts";
import type { Level, LevelContainer } from "../level.ts";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { lostError } from "../local-errors.ts";
import { parseProcessUser, sharedMemoryBytes } from "../local-spec.ts";
import { explainFailure, openBubblewrapHost, type BubblewrapHost } from "./bubblewrap-host.ts";
import { bubblewrapComponents, bubblewrapSetup } from "./bubblewrap-setup.ts";
import { namespacesCapabilities } from "./namespaces-capabilities.ts";
import { openContainerMounts } from "./namespaces/container-mounts.ts";
import type { ContainerUsers } from "./namespaces/user-namespace-pool.ts";
import { BubblewrapPlace } from "./sandbox/bubblewrap-place.ts";
import { SandboxMemory } from "./sandbox/sandbox-memory.ts";
import { supervisorTerms } from "./sandbox/supervisor-terms.ts";
import { runTrial, type TrialContainer } from "./trial.ts";

/**
 * Level `namespaces`: bubblewrap, and the system read-only.
 * @throws ENGINE_UNAVAILABLE with what is missing
 */
export async function openNamespacesLevel(options: LocalEngineOptions): Promise<Level> {
  const host = await openBubblewrapHost(options);
  const { randomInteger } = options;
  // Only a run shows whether this host lets us run.
  const failure = await tryOut({ host, randomInteger });
  if (failure === null) {
    void host.cgroups.sweep();
    return levelOf({ host, randomInteger });
  }
  // There may be groups that we cannot join.
  const without = { host: withoutGroups(host), randomInteger };
  const second = await tryOut(without);
  if (second === null) return levelOf(without);
  host.close();
  throw explainFailure(second);
}

interface LevelParts {
  readonly host: BubblewrapHost;
  readonly randomInteger: LocalEngineOptions["randomInteger"];
}

function tryOut(parts: LevelParts): Promise<string | null> {
  return runTrial((spec) => makeContainer(parts, spec, {}));
}

async function levelOf(parts: LevelParts): Promise<Level> {
  const { version, capabilities, interpreterPaths, tools } = parts.host;
  return {
    version,
    capabilities,
    components: bubblewrapComponents(version),
    setup: await bubblewrapSetup(tools.bwrap),
    interpreterPaths,
    makeContainer: (spec, options) => makeContainer(parts, spec, options),
    close: () => parts.host.close(),
  };
}

async function makeContainer(
  { host, randomInteger }: LevelParts,
  spec: ContainerSpec,
  { signal, onRemoved }: Partial<Parameters<Level["makeContainer"]>[1]>,
): Promise<LevelContainer & TrialContainer> {
  let group: ContainerGroup | undefined;
  let users: ContainerUsers | null = null;
  try {
    group = host.cgroups.create(spec.name, spec.limits);
    users = (await host.users?.take(spec.processUser ?? programUser, signal)) ?? null;
    const mounts = await openContainerMounts({
      tools: host.tools,
      base: host.base,
      sharedMemoryBytes: sharedMemoryBytes(spec),
      scratch: spec.scratch,
      mounts: spec.mounts ?? [],
      owner: users?.hostUsers.supervisor ?? null,
      announcement: host.cgroups.announcement,
      signal,
    });
    const memory =
      host.capabilities.memoryLimit === "yes"
        ? null
        : new SandboxMemory({
            limitBytes: spec.limits.memoryBytes,
            firstProcess: () => place.firstProcess,
            endLargest: () => container.endLargest(),
          });
    const place: BubblewrapPlace = new BubblewrapPlace({
      ...{ spec, host, group, mounts, users, memory },
      onRemoved: () => {
        host.users?.replenish();
        onRemoved?.();
      },
    });
    const programs = parseProcessUser(spec.processUser);
    const terms = supervisorTerms({ supervisor: host.supervisor, programs, isApart: users !== null });
    const container: SupervisedContainer = new SupervisedContainer({
      spec,
      place,
      terms,
      firstEpoch: randomInteger(1, maxEpoch + 1),
    });
    return { container, isRunning: () => place.isRunning, said: () => place.said };
  } catch (error) {
    users?.release();
    await group?.remove();
    throw error instanceof GloveboxError ? error : lostError(error);
  }
}

/** Epochs are numbers of 16 bits. */
const maxEpoch = 65_535;

function withoutGroups(host: BubblewrapHost): BubblewrapHost {
  const { countsProcessesByNamespace, hasNode, users } = host;
  const capabilities = namespacesCapabilities({
    controllers: new Set(),
    countsCpuTime: false,
    countsProcessesByNamespace,
    isApart: users !== null,
    hasNode,
  });
  return { ...host, cgroups: Cgroups.none(), capabilities };
}
