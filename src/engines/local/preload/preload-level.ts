import type { ContainerSpec } from "../../container-spec.ts";
import { farUids, HostUids } from "../../host-uids.ts";
import type { Level } from "../level.ts";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { readOwner } from "../owner-process.ts";
import { makeContainerFolder } from "./folders/container-folder.ts";
import { folderPrefix, sweepFolders } from "./folders/sweep-folders.ts";
import { guardCommand } from "./guards/guard-command.ts";
import { toolCommand } from "./guards/tool-command.ts";
import type { WhyPreload } from "./preload-capabilities.ts";
import { openPreloadHost, type PreloadHost } from "./preload-host.ts";
import { PreloadContainer } from "./preload-container.ts";
import { PreloadLauncher } from "./preload-launcher.ts";

/**
 * Level `preload`, for hosts without namespaces: programs of the host, guarded from inside their own interpreter. It stops
 * mistakes and simple mischief, not an attacker.
 * @throws ENGINE_UNAVAILABLE when the host has neither Python nor Node
 */
export async function openPreloadLevel(options: LocalEngineOptions, why: WhyPreload): Promise<Level> {
  const { processId, uid, platform } = options;
  const host = await openPreloadHost(options, why);
  if (processId !== undefined) await sweepFolders(host.baseFolder, readOwner(processId), { uid, platform });
  const { version, capabilities, interpreters, installers } = host;
  const { python, node } = interpreters;
  const hostUids = host.changesUser ? new HostUids(farUids, options.randomInteger) : null;
  return {
    version,
    capabilities,
    components: node === null ? [] : [{ name: "Node", version: node.version }],
    setup: { guardsInterpreters: true },
    interpreterPaths: [python, node?.executable ?? null, installers.bun],
    makeContainer: async (spec, { onRemoved }) => {
      const launcher = await makeLauncher({ host, hostUids, spec, options });
      const container = new PreloadContainer({ spec, capabilities, launcher, onRemoved });
      return { container, isRunning: () => container.isRunning };
    },
  };
}

interface LauncherRequest {
  readonly host: PreloadHost;
  /** Null: programs are our own user. */
  readonly hostUids: HostUids | null;
  readonly spec: ContainerSpec;
  readonly options: LocalEngineOptions;
}

async function makeLauncher({ host, hostUids, spec, options }: LauncherRequest): Promise<PreloadLauncher> {
  const { processId, uid, platform, preload = {} } = options;
  const hostUid = hostUids?.take() ?? null;
  const release = (): void => hostUids?.release(hostUid);
  try {
    const folder = await makeContainerFolder({
      base: host.baseFolder,
      prefix: folderPrefix(processId === undefined ? null : readOwner(processId)),
      owner: { uid, platform },
      scratch: spec.scratch,
      copies: spec.mounts ?? [],
      guards: host.guards,
      hostUid,
    });
    const guarded = guardCommand(host.interpreters);
    const arrange = preload.arrange ?? (preload.installs === true ? toolCommand(host.installers, guarded) : guarded);
    return new PreloadLauncher({ spec, host, folder, hostUid, arrange, onRemoved: release });
  } catch (error) {
    release();
    throw error;
  }
}
