import { GloveboxError } from "../../errors/glovebox-error.ts";
import { engineName, engineTitle } from "./command-errors.ts";

export function noCommit(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${engineTitle} cannot make images from containers.`, {
    suggestion: "Use an image that has everything you need (`glovebox images build`), or another engine.",
    context: { engine: engineName, missing: "commit" },
  });
}

export function noOciRuntimes(name: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engineName} has no OCI runtimes; "${name}" was requested.`, {
    suggestion: "Leave oci_runtime out: each container has its own virtual machine.",
    context: { field: "oci_runtime", engine: engineName },
  });
}
