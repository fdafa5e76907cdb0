import type { CallOptions, ContainerSummary } from "../../engine.ts";
import type { Api } from "../http/api.ts";
import { inspectContainer } from "./inspect-container.ts";

type Facts = Omit<ContainerSummary, "remove">;

/** How often a list is requested again when something disturbed it. */
const listRetries = 10;

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

/** The containers with these labels, whether they run or not. */
export async function listContainers(
  api: Api,
  labels: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<readonly Facts[]> {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const query = { all: "1", filters: JSON.stringify({ label }) };
  const request = { method: "GET", path: "/containers/json", query, signal: options.signal } as const;
  let answer = await api.call("list containers", request, [404]);
  // Podman fails when a container disappears while it makes the list.
  for (let again = 0; answer.status === 404; again += 1) {
    answer = await api.call("list containers", request, again < listRetries ? [404] : []);
  }
  const listed = parseContainerList(answer.body);
  const isThere = await Promise.all(
    // Docker 20.10, when it was killed while containers ended, can list, dead and nameless, what it has removed; nothing
    // but its restart takes it off the list. Every container that exists has a name.
    listed.map(async ({ id, name }) => name !== "" || (await inspectContainer({ id, api }, options)) !== null),
  );
  return listed.filter((_, index) => isThere[index]);
}

/** The facts of each container in the answer to `/containers/json`. */
function parseContainerList(body: unknown): readonly Facts[] {
  return ((body ?? []) as readonly ListedContainer[]).map((listed) => ({
    id: listed.Id,
    name: (listed.Names ?? []).map((name) => name.replace(/^\//, "")).find((name) => !name.includes("/")) ?? "",
    labels: listed.Labels ?? {},
    running: listed.State === "running" || listed.State === "paused",
    createdAtMs: (listed.Created ?? 0) * 1000,
  }));
}
