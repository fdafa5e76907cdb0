import { GloveboxError } from "../../errors/glovebox-error.ts";
import { engineName, engineTitle } from "./command/command-errors.ts";

export function nothingToAttachTo(): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "A container without a command of its own has no main process to attach to.",
    {
      suggestion: "Run a program with exec, or give the container a command.",
    },
  );
}

export function noCommit(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${engineTitle} cannot make images from containers.`, {
    suggestion: "Use an image that has everything you need (`glovebox images build`), or another engine.",
    context: { engine: engineName, missing: "commit" },
  });
}

export function noShell(image: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Image ${image} has no shell, which ${engineTitle} needs to keep it up.`, {
    suggestion: "Use an image that has `sh`.",
    context: { engine: engineName, image },
  });
}

export function noOciRuntimes(name: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engineName} has no OCI runtimes; "${name}" was requested.`, {
    suggestion: "Leave oci_runtime out: each container has its own virtual machine.",
    context: { field: "oci_runtime", engine: engineName },
  });
}

export function imageUnavailable(reference: string, reason: string): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `Image ${reference} is not available: ${reason}.`, {
    context: { image: reference, reason, engine: engineName },
  });
}
