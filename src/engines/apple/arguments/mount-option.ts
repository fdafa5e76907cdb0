import { mebibyte } from "../../../base/bytes.ts";
import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import type { MountSpec, ScratchSpec } from "../../container-spec.ts";
import { option } from "./option.ts";

/**
 * A file or folder of this machine as an option. One form takes no colon in a path, the other no comma and no equals
 * sign, and no single file.
 * @throws UNSUPPORTED for a path that neither takes
 */
export function mountOption({ source, target, readOnly }: MountSpec): string {
  if (!`${source}${target}`.includes(":")) {
    return option("volume", `${source}:${target}${readOnly ? ":ro" : ""}`);
  }
  if (/[,=]/.test(`${source}${target}`)) throw unspeakablePath(target);
  return option("mount", `type=bind,source=${source},target=${target}${readOnly ? ",readonly" : ""}`);
}

/** A writable folder in memory as an option: whole MiB, rounded down, one at least. */
export function scratchOption({ path, sizeBytes }: ScratchSpec): string {
  if (/[,=]/.test(path)) throw invalidField("scratch.path", "a path without a comma and an equals sign", path);
  const size = Math.max(1, Math.floor(sizeBytes / mebibyte));
  return option("mount", `type=tmpfs,target=${path},size=${size}m,mode=1777`);
}

function unspeakablePath(target: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `What is to be mounted at ${target} has a path that cannot be mounted.`, {
    suggestion: "Rename the folder: a path with a colon must have no comma and no equals sign.",
    context: { engine: "apple", target },
  });
}
