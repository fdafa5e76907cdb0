import type { ContainerSummary } from "../../engine.ts";

/** The part of a listed container that is read. */
interface ListedContainer {
  readonly Id: string;
  /** Each with a slash before it; a container that another one links to has further names with more slashes. */
  readonly Names?: readonly string[] | null;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State?: string;
  /** Seconds since the epoch. */
  readonly Created?: number;
}

/** The facts of each container in the answer to `/containers/json`. */
export function parseContainerList(body: unknown): readonly Omit<ContainerSummary, "remove">[] {
  return ((body ?? []) as readonly ListedContainer[]).map((listed) => ({
    id: listed.Id,
    name: (listed.Names ?? []).map((name) => name.replace(/^\//, "")).find((name) => !name.includes("/")) ?? "",
    labels: listed.Labels ?? {},
    running: listed.State === "running" || listed.State === "paused",
    createdAtMs: (listed.Created ?? 0) * 1000,
  }));
}
