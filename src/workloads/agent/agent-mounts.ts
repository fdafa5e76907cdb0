import { decideMount } from "../../policy/mounts/decide-mount.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import { mountRefused } from "../../policy/mounts/mount-verdict.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { HostMount } from "../run/host-mount.ts";
import { agentPaths } from "./agent-container.ts";
import type { AgentFolders } from "./agent-folders.ts";

/** The mounts of a group's own folders, each at its fixed path (SPEC MO4); missing folders are left out. */
export function agentMounts(folders: AgentFolders, group: string): readonly HostMount[] {
  const rows: readonly [OpenPlace | null, string, boolean, string][] = [
    [folders.project, agentPaths.project, false, "agents.project"],
    [
      folders.workspace,
      agentPaths.group,
      false,
      folders.project === null ? `groups/${group}` : "agents.main_workspace",
    ],
    [folders.global, agentPaths.global, true, "groups/global"],
    [folders.state, agentPaths.state, false, `data/pi/${group}/.pi`],
    [folders.ipc, agentPaths.ipc, false, `data/ipc/${group}`],
    [folders.farmState, agentPaths.farmState, false, "agents.farm_state"],
    [folders.dashboard, agentPaths.dashboard, false, "agents.dashboard"],
  ];
  return rows.flatMap(([place, target, readOnly, shownAs]) =>
    place === null ? [] : [{ place, target, readOnly, shownAs }],
  );
}

/**
 * Refuses an operator's folder that no sandbox may have, even if it is listed (SPEC MO6): keys, engines' sockets,
 * Glovebox's own files. Here only the operator chooses the folders, never a client.
 * @throws POLICY_DENIED naming the key or the folder, and the rule
 */
export function assertMayBeMounted(policy: MountPolicy, { place, readOnly, shownAs }: HostMount): void {
  const { realPath, kind } = place;
  const root = { path: realPath, source: "project_roots", listedAs: shownAs, description: null } as const;
  const verdict = decideMount(
    { ...policy, roots: [{ ...root, allowReadWrite: true }] },
    { realPath, kind },
    {
      givenPath: realPath,
      use: "project",
      access: readOnly ? "read-only" : "read-write",
      isMain: true,
    },
  );
  if (!verdict.allowed) throw mountRefused(verdict, shownAs, shownAs);
}
