import { readFile } from "node:fs/promises";
import {
  controllers,
  meters,
  parseCgroupPlaces,
  type CgroupPlaces,
  type GroupPlaces,
} from "../../cgroups/cgroup-places.ts";
import { GroupCounters } from "../../cgroups/group-counters.ts";

export interface GroupOf {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
}

/**
 * What counts for a container in this machine's kernel; null when the container is on another machine, or its control groups
 * cannot be seen from here. No other container's group has the name, so that it can be kept while it counts.
 */
export async function groupCounters(group: GroupOf): Promise<GroupCounters | null> {
  const found = await groupOf(group);
  return found === null ? null : new GroupCounters(found.places, found.name);
}

/** The container's group on this machine; null when it is on another machine, or cannot be seen from here. */
export async function groupOf({ id, processId }: GroupOf): Promise<FoundGroup | null> {
  const [groups, places] = await Promise.all([readProcess(`${processId}/cgroup`), ownPlaces()]);
  return findGroup(groups, id, places);
}

/** Where control groups are mounted here. */
export async function ownPlaces(): Promise<CgroupPlaces> {
  const [mounts, own] = await Promise.all([readProcess("self/mountinfo"), readProcess("self/cgroup")]);
  return parseCgroupPlaces(mounts, own);
}

function readProcess(name: string): Promise<string> {
  return readFile(`/proc/${name}`, "latin1").catch(() => "");
}

/** Where the groups of one container are, and their name below each place. */
export interface FoundGroup {
  readonly places: GroupPlaces;
  readonly name: string;
}

/** The container's group, by the line of `/proc/PID/cgroup` that names its memory; the number may be another machine's. */
export function findGroup(groups: string, id: string, { version1, version2 }: CgroupPlaces): FoundGroup | null {
  const names = new Map<string, string>();
  for (const [, list = "", name = ""] of groups.matchAll(/^\d+:([^:\n]*):(\/.*)$/gm))
    for (const controller of list.split(",")) names.set(controller, name);
  const version = version1.memory === undefined ? 2 : 1;
  const name = names.get(version === 1 ? "memory" : "");
  if (name === undefined || !name.includes(id)) return null;
  const places: GroupPlaces = new Map();
  for (const controller of [...controllers, ...meters]) {
    const folder = version === 1 ? version1[controller] : version2[0];
    const isThere = version === 2 || names.get(controller) === name;
    if (folder !== undefined && isThere) places.set(controller, { folder, version });
  }
  return { places, name };
}
