import type { ContainerSpec } from "../engines/container-spec.ts";
import { labels, managed } from "../engines/labels.ts";
import { writablePaths, writablePathsLabel } from "./mounts/writable-paths.ts";
import { containerName } from "./owners/left-over.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

/** Owner and expiry of an object on an engine. */
export interface Ownership {
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
