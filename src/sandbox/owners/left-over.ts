import type { ContainerSummary } from "../../engines/engine.ts";
import { labels } from "../../engines/labels.ts";
import type { OwnerState } from "./leases.ts";

/** What decides whether an object on an engine is left over; an image never runs. */
export interface OwnedObject {
  readonly labels: Readonly<Record<string, string>>;
  readonly running?: boolean | undefined;
}

const sandboxForm = /^sbx-[a-z0-9]{20}$/;

/** The container of a sandbox, by the name that it is given; `-folders` is the one that brings it its folders. */
export function containerName(sandboxId: string): string {
  return `glovebox-${sandboxId}`;
}

/**
 * Whether a container is one of ours. Its labels alone do not tell: every container of an image has the image's, and an
 * image may be anybody's. The name of a container no image can know.
 */
export function isOwnContainer(summary: Pick<ContainerSummary, "name" | "labels">): boolean {
  const sandbox = summary.labels[labels.sandbox] ?? "";
  const name = containerName(sandbox);
  return sandboxForm.test(sandbox) && (summary.name === name || summary.name === `${name}-folders`);
}

/**
 * Whether nobody who lives owns it: its owner is known to be gone, or unknown, and its time is over.
 *
 * A running sandbox of an unknown owner (another user's, another machine's) is never left over: it ends with the
 * connection of the server that made it, so that it runs is that server's sign of life, which no clock can falsify.
 */
export function isLeftOver({ labels: own, running = false }: OwnedObject, owner: OwnerState, nowMs: number): boolean {
  if (owner !== "unknown") return owner === "expired";
  // If its time cannot be read, it is not one that we made.
  return !running && Date.parse(own[labels.expiresAt] ?? "") < nowMs;
}
