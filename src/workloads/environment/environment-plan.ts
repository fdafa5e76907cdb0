import { engineCaveats } from "../../policy/engine-caveats.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { assertEnforceable, assertNetworkPossible, optionalDemands } from "../../engines/assert-enforceable.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { EngineName } from "../../engines/engine.ts";
import { programUser } from "../../policy/profile.ts";
import { divideScratch, temporaryFolder, workFolder } from "../../policy/scratch.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { canClearSetuidBits } from "../../sandbox/setuid-watch.ts";
import { projectFolder, type EnvironmentSpec, type Project } from "./environment-spec.ts";

/** Hard limit of an environment's life, used or not: after it any sweep may remove what is left. */
const lifetimeMs = 24 * 3_600_000;

export interface EnvironmentPlan {
  readonly sandbox: SandboxPlan;
  /** Substitutes for what was requested, and what the caller should know; one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * The sandbox of an environment (SPEC MO2).
 * @throws UNSUPPORTED naming the engine, what is missing and the alternative
 */
export function environmentPlan(
  spec: EnvironmentSpec,
  { engine, capabilities }: { readonly engine: EngineName; readonly capabilities: Capabilities },
): EnvironmentPlan {
  if (!capabilities.images) throw noContainers(engine);
  if (spec.project !== null && !capabilities.hostPaths) throw noProject(engine);
  const optional = optionalDemands(capabilities, spec.explicitDemands);
  const { warnings } = assertEnforceable(capabilities, { engine, minIsolation: spec.minIsolation, optional });
  if (spec.setupCommands.length > 0 && capabilities.diskLimit === "no") throw noSetup(engine);
  const prepares = spec.setupCommands.length + spec.installCommands.length > 0;
  const needsNetwork = spec.network.kind !== "none" || prepares;
  if (needsNetwork) assertNetworkPossible(capabilities, engine);
  const root = spec.readOnlyRoot ? readOnlyRoot(spec, capabilities) : writableRoot(spec, { engine, capabilities });
  const { project } = spec;
  const setuid = setuidWarnings(project, { engine, capabilities });
  return {
    sandbox: {
      kind: "environment",
      labels: spec.labels,
      givenName: spec.name,
      shownImage: spec.image,
      image: spec.image,
      ociRuntime: spec.ociRuntime,
      limits: spec.limits,
      ...root.files,
      ...(project === null ? {} : { mounts: [mountOf(project)] }),
      processUser: userOf(spec),
      workingDirectory: projectFolder,
      lifetimeMs,
    },
    warnings: [...warnings, ...root.warnings, ...setuid, ...rootWarnings(spec)],
  };
}

/**
 * The sandbox that prepares an image with `setup_commands`: only root, with the capabilities that installers need. The
 * project is read-only, whoever owns it.
 */
export function setupPlan(sandbox: SandboxPlan): SandboxPlan {
  const { mounts, scratch: _, sharedMemoryBytes: __, ...rest } = sandbox;
  return {
    ...rest,
    scratch: [],
    writableRoot: { folders: [] },
    ...(mounts === undefined ? {} : { mounts: mounts.map((mount) => ({ ...mount, readOnly: true })) }),
    workingDirectory: mounts === undefined ? "/" : projectFolder,
    processUser: "0:0",
    rootCapabilities: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID"],
  };
}

function mountOf({ place, identity, readOnly }: Project): MountSpec {
  return { source: place.realPath, target: projectFolder, readOnly, identity };
}

interface Root {
  readonly files: Pick<SandboxPlan, "scratch" | "writableRoot" | "sharedMemoryBytes">;
  readonly warnings: readonly string[];
}

function readOnlyRoot(spec: EnvironmentSpec, { scratch: storage }: Capabilities): Root {
  const { places, sharedMemoryBytes, note } = divideScratch(spec.limits, storage);
  const scratch = places
    .map((place) => (place.path === workFolder ? { ...place, path: projectFolder } : place))
    .filter((place) => spec.project === null || place.path !== projectFolder);
  return { files: { scratch, sharedMemoryBytes }, warnings: note === null ? [] : [note] };
}

function writableRoot(
  { project }: EnvironmentSpec,
  { engine, capabilities: { diskLimit } }: { readonly engine: EngineName; readonly capabilities: Capabilities },
): Root {
  if (diskLimit === "no") throw noDiskLimit(engine);
  return {
    files: {
      scratch: [],
      writableRoot: { folders: [temporaryFolder, ...(project === null ? [projectFolder] : [])] },
    },
    warnings: diskLimit === "yes" ? [] : [engineCaveats.watchedFiles(engine, diskLimit.substitute)],
  };
}

/**
 * Commands run as the project's owner, so that the owner owns what they write; in a project owned by root they run as
 * root without capabilities.
 */
function userOf({ project }: EnvironmentSpec): string {
  if (project === null) return programUser;
  const { uid, gid } = project.place.owner;
  return `${uid}:${gid}`;
}

/** @throws UNSUPPORTED if neither a filter nor a watch prevents setuid bits in a writable project */
function setuidWarnings(
  project: Project | null,
  { engine, capabilities: { setuidRefusal } }: { readonly engine: EngineName; readonly capabilities: Capabilities },
): readonly string[] {
  if (project === null || project.readOnly || setuidRefusal === "yes") return [];
  if (setuidRefusal === "no" || !canClearSetuidBits(project.place)) throw noSetuidRefusal(engine);
  return [engineCaveats.watchedSetuid(engine, "the project", setuidRefusal.substitute)];
}

function rootWarnings({ project }: EnvironmentSpec): readonly string[] {
  if (project?.place.owner.uid !== 0) return [];
  return [
    "the project belongs to root, so commands run as root without any capability; give the project to a user of its own for a stronger wall.",
  ];
}

function noContainers(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} runs no containers, which environments are made of.`, {
    suggestion:
      "Choose an engine with containers (`glovebox doctor` lists them), or run single programs with execute_code.",
    context: { engine, missing: "images" },
  });
}

function noProject(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot give an environment a folder of this machine.`, {
    suggestion: "Leave project_root out and write the files into the environment, or choose an engine on this machine.",
    context: { engine, missing: "hostPaths", field: "project_root" },
  });
}

function noSetuidRefusal(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot keep setuid files out of a writable project here.`, {
    suggestion: "Ask for read_only, leave oci_runtime out, or choose another engine.",
    context: { engine, missing: "setuidRefusal", field: "project_root" },
  });
}

function noSetup(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot limit what setup_commands write here.`, {
    suggestion: "Leave setup_commands out, and use an image that has what they would install.",
    context: { engine, missing: "diskLimit", field: "setup_commands" },
  });
}

function noDiskLimit(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot limit what commands write to a root here.`, {
    suggestion: "Ask for read_only_root: commands then have /tmp and the project to write to.",
    context: { engine, missing: "diskLimit", field: "read_only_root" },
  });
}
