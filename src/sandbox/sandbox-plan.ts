import type { ContainerSpec } from "../engines/container-spec.ts";
import { labels, managed } from "../engines/labels.ts";
import type { ContainerSummary } from "../engines/engine.ts";
import type { OwnerState } from "./owners/leases.ts";

/** Everything in a container's spec except what `Sandboxes` fills in itself. */
export type SandboxPlan = Omit<ContainerSpec, "name" | "labels"> & {
  readonly kind: string;
  /** What its caller has marked it with; default: nothing. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Its caller's own word for it; default: none. (`name` is the container's, for the engine.) */
  readonly givenName?: string | undefined;
  /** The image as its caller knows it, where another was made from it; default: `image`. */
  readonly shownImage?: string | undefined;
  /** Its id, of `createId("sbx")`, where its caller knows it already; default: a new one. */
  readonly id?: string | undefined;
  /** Hard end: after it any sweep may remove what is left of the sandbox, once nothing runs in it. */
  readonly lifetimeMs: number;
  /** Variables of its programs, which those of visitors get too; none is a secret. */
  readonly programEnvironment?: Readonly<Record<string, string>> | undefined;
};

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

/** Owner and expiry of an object on an engine. */
interface Ownership {
  /** Identity of this server. */
  readonly owner: string;
  /** Milliseconds since the epoch, after which any sweep may remove it. */
  readonly expiresAtMs: number;
}

/** What an image made of a sandbox carries. */
export interface ImageMarks {
  /** Without spaces and quotation marks. */
  readonly labels: Readonly<Record<string, string>>;
  /** Hard end: after it any sweep may remove the image. */
  readonly lifetimeMs: number;
  /** Whether it is there for later runs, also of other processes: no sweep removes it. Default false. */
  readonly isKept?: boolean | undefined;
}

/**
 * The container spec for a plan. The labels name the server, the sandbox and its kind, never the principal: a container
 * may be started before any request, and the principal it then serves is in the server's record.
 */
export function labelledSpec(id: string, plan: SandboxPlan, ownership: Ownership): ContainerSpec {
  const { kind, lifetimeMs: _, programEnvironment: __, id: ___, labels: ____, ...more } = plan;
  const { givenName: _____, shownImage: ______, ...rest } = more;
  return {
    ...rest,
    name: containerName(id),
    labels: {
      ...ownershipLabels(ownership),
      [labels.kind]: kind,
      [labels.sandbox]: id,
      ...writablePathsLabel(writablePaths(plan)),
    },
  };
}

export function ownershipLabels({ owner, expiresAtMs }: Ownership): Readonly<Record<string, string>> {
  return { ...managed, [labels.owner]: owner, [labels.expiresAt]: new Date(expiresAtMs).toISOString() };
}

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
