/** Who made a group: identifies a process even if its pid is reused. */
export interface GroupOwner {
  /** The process-id namespace, because another container's numbers mean other processes. */
  readonly namespace: string;
  readonly processId: number;
  /** When it started, in the kernel's ticks since boot. */
  readonly startTicks: string;
}

/** Folder, under the place where groups may be made, that holds all of ours. */
export const groupsFolder = "glovebox";

/** Name of a container's group. */
export function groupName({ namespace, processId, startTicks }: GroupOwner, container: string): string {
  return [namespace, processId, startTicks, container].join(".");
}

/** Owner of a group by its name; null when the name is not of ours. */
export function parseGroupOwner(name: string): GroupOwner | null {
  const [, namespace, processId, startTicks] = /^(\d+)\.(\d+)\.(\d+)\../.exec(name) ?? [];
  if (namespace === undefined || processId === undefined || startTicks === undefined) return null;
  return { namespace, processId: Number(processId), startTicks };
}
