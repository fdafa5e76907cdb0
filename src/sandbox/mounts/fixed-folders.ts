import type { ContainerSpec } from "../../engines/container-spec.ts";

/** A folder of a sandbox, by its path inside. */
export interface FixedFolder {
  readonly path: string;
  readonly readOnly: boolean;
}

/** Its scratch, and mounts that never change. */
export function fixedFolders({
  scratch,
  mounts = [],
}: Pick<ContainerSpec, "scratch" | "mounts">): readonly FixedFolder[] {
  const unchanging = mounts.filter((mount) => mount.unchanging === true);
  return [
    ...scratch.map(({ path }) => ({ path, readOnly: false })),
    ...unchanging.map(({ target }) => ({ path: target, readOnly: true })),
  ];
}
