import type { ContainerSpec } from "../../engines/container-spec.ts";
import { labels } from "../../engines/labels.ts";

/** The folders of this machine that programs of a sandbox may write to. */
export function writablePaths({ mounts = [] }: Pick<ContainerSpec, "mounts">): readonly string[] {
  return mounts.filter(({ readOnly }) => !readOnly).map(({ source }) => source);
}

/** The label that announces them to other servers. */
export function writablePathsLabel(paths: readonly string[]): Readonly<Record<string, string>> {
  return paths.length === 0 ? {} : { [labels.writablePaths]: JSON.stringify(paths) };
}

/** The paths in that label; none if it is missing or was not written by us. */
export function labelledWritablePaths(given: Readonly<Record<string, string>>): readonly string[] {
  try {
    const paths: unknown = JSON.parse(given[labels.writablePaths] ?? "[]");
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}
