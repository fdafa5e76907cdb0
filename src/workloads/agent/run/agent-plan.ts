import type { Capabilities } from "../../../engines/capabilities.ts";
import type { MountSpec } from "../../../engines/container-spec.ts";
import type { EngineName } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { divideScratch, watchedScratch, workFolder, type ScratchPlace } from "../../../policy/scratch.ts";
import type { PlaceOwner } from "../../../sandbox/mounts/open-place.ts";
import type { SandboxPlan } from "../../../sandbox/sandbox-plan.ts";
import { agentPaths } from "../agent-container.ts";
import type { AgentSpec } from "./agent-spec.ts";

/** Time in addition to the agent's own before a sweep may remove its sandbox: for start and removal. */
const lifetimeMarginMs = 300_000;

export interface AgentPlanFacts {
  readonly capabilities: Capabilities;
  readonly mounts: readonly MountSpec[];
  /** Scratch on this machine's disk; null: the engine's own. */
  readonly scratchMounts: readonly MountSpec[] | null;
  readonly user: PlaceOwner;
  readonly programEnvironment: Readonly<Record<string, string>>;
}

/** The sandbox of one run: a read-only image, scratch for the agent's home and `/tmp`, and the mounts, or scratch for copies of them. */
export function agentPlan(
  spec: AgentSpec,
  facts: AgentPlanFacts,
): { readonly plan: SandboxPlan; readonly warnings: readonly string[] } {
  const { capabilities, mounts, scratchMounts, user, programEnvironment } = facts;
  const scratch =
    scratchMounts === null ? divideScratch(spec.limits, capabilities.scratch) : watchedScratch(spec.limits);
  const isCopied = !capabilities.hostPaths;
  const places = isCopied ? scratch.places.flatMap(withCopies) : scratch.places.map(placeInHome);
  const plan: SandboxPlan = {
    kind: "agent",
    id: spec.sandboxId,
    labels: spec.labels,
    givenName: spec.name,
    image: spec.image,
    ociRuntime: spec.ociRuntime,
    limits: spec.limits,
    scratch: places,
    sharedMemoryBytes: scratch.sharedMemoryBytes,
    mounts: [...(scratchMounts ?? []).map(intoHome), ...mounts],
    ...(isCopied ? {} : { processUser: `${user.uid}:${user.gid}` }),
    workingDirectory: agentPaths.group,
    lifetimeMs: spec.limits.timeoutMs + lifetimeMarginMs,
    programEnvironment,
  };
  return {
    plan,
    warnings: [...(scratch.note === null ? [] : [scratch.note]), ...(isCopied ? [] : rootWarnings(user))],
  };
}

function placeInHome(place: ScratchPlace): ScratchPlace {
  return place.path === workFolder ? { ...place, path: agentPaths.home } : place;
}

/** Copies of folders take most of the place; the agent's home has a quarter of it. */
function withCopies(place: ScratchPlace): readonly ScratchPlace[] {
  if (place.path !== workFolder) return [place];
  const homeBytes = Math.floor(place.sizeBytes / 4);
  return [
    { path: agentPaths.home, sizeBytes: homeBytes },
    { path: agentPaths.workspace, sizeBytes: place.sizeBytes - homeBytes },
  ];
}

function intoHome(mount: MountSpec): MountSpec {
  return mount.target === workFolder ? { ...mount, target: agentPaths.home } : mount;
}

function rootWarnings({ uid }: PlaceOwner): readonly string[] {
  if (uid !== 0) return [];
  return [
    "the group's workspace belongs to root, so the agent runs as root without any capability; give the group's folders to a user of their own for a stronger wall.",
  ];
}

/**
 * Agents need containers, with folders of this machine mounted, or with copies of them.
 * @throws UNSUPPORTED naming the engine, what is missing and the alternative
 */
export function assertCanHoldAgents(capabilities: Capabilities, engine: EngineName): void {
  const { images, execUser, hostPaths } = capabilities;
  if (images && (execUser || !hostPaths)) return;
  throw new GloveboxError("UNSUPPORTED", `Engine ${engine} runs no containers, which agents live in.`, {
    suggestion: "Choose an engine with containers (`glovebox doctor` lists them).",
    context: { engine, missing: "images" },
  });
}
