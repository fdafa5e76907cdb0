import { GloveboxError } from "../../errors/glovebox-error.ts";
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
