import { containerOfVolume } from "../arguments/sized-volumes.ts";
import type { ContainerFacts } from "./container-answer.ts";
import type { VolumeFacts } from "./volume-answer.ts";

/** A container and the names of the volumes that go with it. */
export type ContainerWithVolumes = ContainerFacts & { readonly volumes: readonly string[] };

/** Containers with their volumes; volumes that a container has left behind represent it: stopped, with its labels. */
export function containersWithVolumes(
  containers: readonly ContainerFacts[],
  volumes: readonly VolumeFacts[],
): readonly ContainerWithVolumes[] {
  const found = new Map(containers.map((facts) => [facts.id, { ...facts, volumes: [] as string[] }]));
  for (const { name, labels, createdAtMs } of volumes) {
    const id = containerOfVolume(name);
    if (id === null) continue;
    const of = found.get(id) ?? { id, labels, createdAtMs, state: "stopped", volumes: [] };
    of.volumes.push(name);
    found.set(id, of);
  }
  return [...found.values()];
}
