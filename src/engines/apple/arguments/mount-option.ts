import { mebibyte } from "../../../base/bytes.ts";
import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import type { MountSpec, ScratchSpec } from "../../container-spec.ts";
import { option } from "./option.ts";
import type { SizedVolume } from "./sized-volumes.ts";

/**
 * A file or folder of this machine as an option, without devices and setuid programs. The other form of it, `--mount`,
 * takes colons, but neither single files nor these options.
 * @throws UNSUPPORTED for a path with a colon
 */
export function mountOption({ source, target, readOnly }: MountSpec): string {
  if (`${source}${target}`.includes(":")) throw colonInPath(target);
  return option("volume", `${source}:${target}:${readOnly ? "ro," : ""}nosuid,nodev`);
}

/** A writable folder in memory as an option: whole MiB, rounded down, one at least. */
export function scratchOption({ path, sizeBytes }: ScratchSpec): string {
  assertPlain(path);
  const size = Math.max(1, Math.floor(sizeBytes / mebibyte));
  return option("mount", `type=tmpfs,target=${path},size=${size}m,mode=1777`);
}

/** The same on a volume of its own as an option. */
export function volumeOption({ name, path }: SizedVolume): string {
  assertPlain(path);
  return option("mount", `type=volume,source=${name},target=${path}`);
}

function assertPlain(path: string): void {
  if (/[,=]/.test(path)) throw invalidField("scratch.path", "a path without a comma and an equals sign", path);
}

function colonInPath(target: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `What is to be mounted at ${target} has a colon in its path.`, {
    suggestion: "Rename the folder: engine apple does not support colons in mount paths.",
    context: { engine: "apple", target },
  });
}
