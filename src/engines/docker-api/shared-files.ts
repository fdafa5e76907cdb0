import { readFile, stat } from "node:fs/promises";
import { parseMountTable } from "../../base/mount-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { MountSpec } from "../container-spec.ts";
import { containerPath } from "./container/container-link.ts";
import type { Api } from "./http/api.ts";
import type { EngineConnection } from "../engine-setup.ts";
import { ownContainerId, pathOutside, type InspectedMount, type SharedFiles } from "./own-container.ts";

export interface SharedFilesOptions {
  readonly api: Api;
  readonly connection: EngineConnection | undefined;
  /** The engine's own folder, as it reports it. */
  readonly engineFolder: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What is reached over a network may be another machine, also behind a port of this one that leads on. A socket may have
 * been handed into a container (SPEC API3): then the engine is asked what that container has. A container that the engine
 * does not know is its own machine only if the engine's folder is in it, too.
 */
export async function findSharedFiles(options: SharedFilesOptions): Promise<SharedFiles> {
  const { api, connection, engineFolder, signal } = options;
  if (connection?.kind !== "socket") return { kind: "none" };
  // Other systems than Linux have no such table, and no containers of such an engine.
  const table = parseMountTable(await readFile("/proc/self/mountinfo", "latin1").catch(() => ""));
  const id = ownContainerId(table);
  if (id === null) return { kind: "same" };
  const request = { method: "GET", path: containerPath({ id }, "json"), signal } as const;
  const { status, body } = await api.call("inspect the container of Glovebox", request, [404]);
  if (status === 404) return { kind: (await isThere(engineFolder)) ? "same" : "none" };
  const { Mounts } = body as { readonly Mounts?: readonly InspectedMount[] | null };
  return { kind: "container", mounts: Mounts ?? [], mountPoints: table.map(({ mountPoint }) => mountPoint) };
}

async function isThere(folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  return (await stat(folder).catch(() => null))?.isDirectory() === true;
}

/** Mounts by the engine's paths, or, where it cannot reach them but may have copies, the folders to copy. */
export interface ReachableMounts {
  readonly mounts: readonly MountSpec[];
  readonly copied: readonly MountSpec[];
}

/** @throws POLICY_DENIED for what exists only in this container and may not be copied, or is read-only to it */
export function reachableMounts(mounts: readonly MountSpec[], shared: SharedFiles): ReachableMounts {
  if (shared.kind === "same") return { mounts, copied: [] };
  // They are folders that never change, or the spec would have been refused.
  if (shared.kind === "none") return { mounts: [], copied: mounts };
  const places = mounts.map((mount) => pathOutside(mount.source, shared));
  const stuck = mounts.find((_, index) => places[index] === null);
  if (stuck !== undefined) {
    if (mounts.some(({ unchanging }) => unchanging !== true)) throw onlyInContainer(stuck);
    return { mounts: [], copied: mounts };
  }
  const reachable = mounts.map((mount, index) => {
    if (!mount.readOnly && places[index]?.writable !== true) throw readOnlyHere(mount);
    return { ...mount, source: places[index]?.path ?? mount.source };
  });
  return { mounts: reachable, copied: [] };
}

/** A sandbox gets no more of the machine than whoever started this container gave it. */
function readOnlyHere({ target }: MountSpec): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `What is to be mounted at ${target} for writing is mounted read-only in Glovebox's own container.`,
    {
      suggestion: "Ask for it with read_only, or mount it writable into Glovebox's container.",
      context: { rule: "read_only", target },
    },
  );
}

function onlyInContainer({ target }: MountSpec): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `What is to be mounted at ${target} is not shared with the machine of the engine: Glovebox runs in a container, and only that container has this folder or the folder of installed packages.`,
    {
      suggestion:
        "Start Glovebox's container with the folder mounted from the machine, such as ./projects:/projects:ro, and the folder of packages as a volume.",
      context: { rule: "not_shared", target },
    },
  );
}
