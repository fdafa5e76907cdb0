import { setTimeout as sleep } from "node:timers/promises";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import type { ContainerState } from "../../engine.ts";
import type { ContainerLink } from "./container-link.ts";
import { readLastState } from "./read-last-state.ts";
import { lostError } from "../../supervised/container/container-errors.ts";

/** Waits before each look for the reason of a container's end: an engine learns it after the end itself, busy ones 1 to 2 s later. */
const looksMs = [0, 100, 300, 600, 1_000, 1_000];

/**
 * Of a container that is gone: only that it ran out of memory as a whole.
 * @throws SANDBOX_LOST when it did not, or that cannot be told
 */
export async function statsAfterEnd(
  { api, id, dialect }: Pick<ContainerLink, "api" | "id" | "dialect">,
  inspect: () => Promise<ContainerState>,
  signal: AbortSignal | undefined,
): Promise<ContainerStats> {
  for (const delayMs of looksMs) {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
    const states = await Promise.all([inspect(), readLastState(api, id, { signal })]);
    if (states.some((state) => state.oomKilled === true)) {
      return { ...unknownStats, oomKills: 1 };
    }
  }
  throw lostError(dialect.title);
}
