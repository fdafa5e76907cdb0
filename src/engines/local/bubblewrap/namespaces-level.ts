import { closeSync } from "node:fs";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { Cgroups } from "../cgroups/cgroups.ts";
import type { ContainerGroup } from "../cgroups/container-group.ts";
import { HostUids } from "../host-uids.ts";
import type { Launcher, Level } from "../launcher.ts";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { lostError } from "../local-errors.ts";
import { sharedMemoryBytes } from "../local-spec.ts";
import { explainFailure, openBubblewrapHost, type BubblewrapHost } from "./bubblewrap-host.ts";
import { BubblewrapLauncher } from "./bubblewrap-launcher.ts";
import { bubblewrapComponents, bubblewrapSetup } from "./bubblewrap-setup.ts";
import { namespacesCapabilities } from "./namespaces-capabilities.ts";
import { openContainerNamespace } from "./namespaces/container-namespace.ts";
import { runTrial } from "./trial.ts";

/**
 * Level `namespaces`: bubblewrap, and the system read-only.
 * @throws ENGINE_UNAVAILABLE with what is missing
 */
export async function openNamespacesLevel(options: LocalEngineOptions): Promise<Level> {
  const host = await openBubblewrapHost(options);
  const hostUids = options.uid === 0 ? new HostUids(options.randomInteger) : null;
  // Only a run shows whether this host lets us run.
  const failure = await tryOut(host, hostUids);
  if (failure === null) {
    void host.cgroups.sweep();
    return levelOf(host, hostUids);
  }
  // There may be groups that we cannot join.
  const without = withoutGroups(host);
  const second = await tryOut(without, hostUids);
  if (second === null) return levelOf(without, hostUids);
  host.close();
  throw explainFailure(second);
}

/** Its network namespace, which only the trial has used, is given to the first container. */
function tryOut(host: BubblewrapHost, hostUids: HostUids | null): Promise<string | null> {
  return runTrial(host.capabilities, (spec) =>
    makeLauncher({ host, hostUids, spec, isTrial: true, signal: undefined }),
  );
}

async function levelOf(host: BubblewrapHost, hostUids: HostUids | null): Promise<Level> {
  const { version, capabilities, interpreterPaths, tools, bun } = host;
  return {
    version,
    capabilities,
    components: bubblewrapComponents(version),
    setup: await bubblewrapSetup(tools.bwrap),
    interpreterPaths,
    provide: async ([name], signal) => {
      if (name === "bun") await bun.provide(signal);
    },
    makeLauncher: (spec, signal) => makeLauncher({ host, hostUids, spec, isTrial: false, signal }),
    close: () => host.close(),
  };
}

interface LauncherRequest {
  readonly host: BubblewrapHost;
  /** Null: programs are our own user. */
  readonly hostUids: HostUids | null;
  readonly spec: ContainerSpec;
  readonly isTrial: boolean;
  readonly signal: AbortSignal | undefined;
}

async function makeLauncher({ host, hostUids, spec, isTrial, signal }: LauncherRequest): Promise<Launcher> {
  const hostUid = hostUids?.take() ?? null;
  let group: ContainerGroup | undefined;
  try {
    group = host.cgroups.create(spec.name, spec.limits);
    const [mountDescriptor, networkDescriptor] = await bothOrNone(
      openContainerNamespace({
        tools: host.tools,
        base: host.base,
        sharedMemoryBytes: sharedMemoryBytes(spec),
        scratch: spec.scratch,
        mounts: spec.mounts ?? [],
        hostUid,
        announcement: host.cgroups.announcement,
        signal,
      }),
      host.networks.take(signal),
    );
    const onRemoved = (): void => {
      hostUids?.release(hostUid);
      if (isTrial) host.networks.giveBack(networkDescriptor);
      else host.networks.replenish();
    };
    const parts = { spec, host, group, mountDescriptor, networkDescriptor, hostUid };
    return new BubblewrapLauncher({ ...parts, keepsNetwork: isTrial, onRemoved });
  } catch (error) {
    hostUids?.release(hostUid);
    await group?.remove();
    throw error instanceof GloveboxError ? error : lostError(error);
  }
}

/** Opens two descriptors at once; if one cannot be opened, the other is closed again. */
async function bothOrNone(first: Promise<number>, second: Promise<number>): Promise<readonly [number, number]> {
  try {
    return await Promise.all([first, second]);
  } catch (error) {
    for (const opened of await Promise.allSettled([first, second])) {
      if (opened.status === "fulfilled") closeSync(opened.value);
    }
    throw error;
  }
}

function withoutGroups(host: BubblewrapHost): BubblewrapHost {
  const { countsProcessesByNamespace, hasNode } = host;
  const capabilities = namespacesCapabilities({
    controllers: new Set(),
    countsCpuTime: false,
    countsProcessesByNamespace,
    hasNode,
  });
  return { ...host, cgroups: Cgroups.none(), capabilities };
}
