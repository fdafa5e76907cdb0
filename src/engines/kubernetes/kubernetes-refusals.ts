import { GloveboxError } from "../../errors/glovebox-error.ts";
import { frameLimits } from "../supervised/frames/frame-table.ts";
import { parseUser } from "../supervised/container/program-request.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { engineName } from "./kubernetes-errors.ts";

function unsupported(message: string, missing: string, suggestion?: string): GloveboxError {
  const context = { engine: engineName, missing };
  return new GloveboxError("UNSUPPORTED", message, suggestion === undefined ? { context } : { context, suggestion });
}

export function noCommit(): GloveboxError {
  return unsupported("Kubernetes makes no image of a pod.", "commit", "Name an image that has it already.");
}

export function noBuild(reference: string): GloveboxError {
  return unsupported(
    `Kubernetes builds no images, so ${reference} cannot be built.`,
    "build",
    "Build it elsewhere, push it to a registry that the cluster pulls from, and name it.",
  );
}

export function noOtherUser(): GloveboxError {
  return unsupported("All programs of a pod are one user.", "execUser");
}

/** What a pod that fits the profile `restricted` cannot be given. @throws UNSUPPORTED */
export function assertPodPossible(spec: ContainerSpec, user: string): void {
  if (parseUser(user).user === 0 || spec.rootCapabilities !== undefined) {
    throw unsupported("Programs of a pod are never root, with capabilities or without.", "root");
  }
  if (spec.writableRoot !== undefined) {
    throw unsupported("The root of a pod is read-only: nothing measures what would be written to it.", "diskLimit");
  }
  if ((spec.mounts ?? []).some(({ unchanging, readOnly }) => unchanging !== true || !readOnly)) {
    throw unsupported("A pod can be given no files of this machine but copies of what never changes.", "hostPaths");
  }
}

/** Variables that are longer than a supervisor tells. */
export function tooManyVariables(image: string): GloveboxError {
  return unsupported(
    `The image ${image} has more variables (ENV) than a sandbox on Kubernetes can take: ${frameLimits.maxStartBytes} bytes together.`,
    "environment",
    "Use an image with less ENV, and give data to programs in files.",
  );
}

export function mountsUnknown(): GloveboxError {
  return unsupported("The sandbox's mount table cannot be read, or is very long, so nothing was run in it.", "mounts");
}

/** Folders that the image declares as volumes, which a node keeps on its disk and nothing bounds. */
export function foldersOnDisk(image: string, folders: readonly string[]): GloveboxError {
  const named = folders.slice(0, 5).join(", ").slice(0, 300);
  return unsupported(
    `The node gives the image ${image} folders on its disk without a bound (VOLUME): ${named}; so nothing was run in it.`,
    "diskLimit",
    "Try again: they are covered from now on. Programs that need one get it as scratch.",
  );
}

export function noRemoval(reference: string): GloveboxError {
  return unsupported(`The nodes of Kubernetes remove images themselves, so ${reference} cannot be removed.`, "images");
}

export function noRuntime(name: string, words: string): GloveboxError {
  return unsupported(
    `The cluster has no RuntimeClass ${JSON.stringify(name.slice(0, 80))} for sandboxes: ${words}.`,
    "ociRuntime",
    "Name one of `kubectl get runtimeclasses`, or leave oci_runtime out.",
  );
}
