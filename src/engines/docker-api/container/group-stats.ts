import { readFile } from "node:fs/promises";
import {
  controllers,
  meters,
  parseCgroupPlaces,
  type CgroupPlaces,
  type GroupPlaces,
} from "../../cgroups/cgroup-places.ts";
import { GroupCounters } from "../../cgroups/group-counters.ts";
import type { ContainerStats } from "../../container-stats.ts";

export interface GroupOf {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
}

/**
 * What this machine's kernel counts for a container, in a few milliseconds; null when the container is on another machine,
 * or its control groups cannot be seen from here.
 */
export async function groupStats({ id, processId }: GroupOf): Promise<ContainerStats | null> {
  const read = (name: string): Promise<string> => readFile(`/proc/${name}`, "latin1").catch(() => "");
  const [groups, mounts, own] = await Promise.all([
    read(`${processId}/cgroup`),
    read("self/mountinfo"),
    read("self/cgroup"),
  ]);
  const found = findGroup(groups, id, parseCgroupPlaces(mounts, own));
  const stats = found === null ? null : new GroupCounters(found.places, found.name).stats;
  return stats === null || stats.memoryBytes === null ? null : stats;
}

/** The container's group, by the line of `/proc/PID/cgroup` that names its memory; the number may be another machine's. */
export function findGroup(
  groups: string,
  id: string,
  { version1, version2 }: CgroupPlaces,
): { readonly places: GroupPlaces; readonly name: string } | null {
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
