import path from "node:path";
import { invalidField } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { supervisorCapabilities } from "../../supervised/container/apart-terms.ts";
import { supervisorFolder, type SupervisorBinary } from "../../supervised/supervisor-binary.ts";
import { labelOption } from "./label-option.ts";
import { limitOptions } from "./limit-options.ts";
import { mountOption, scratchOption, volumeOption } from "./mount-option.ts";
import { option } from "./option.ts";
import { sizedVolumes } from "./sized-volumes.ts";

/** What the command takes as a name, which is the container's id too. */
const nameForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

export interface CreateCircumstances {
  /** `os/architecture` of the image. */
  readonly platform: string;
  readonly binary: Pick<SupervisorBinary, "path">;
}

/**
 * Argument vector that creates a container, without network, with a read-only root. Its first process is the supervisor, from the
 * folder of our package, which begins as root with the capabilities that it needs, and nothing else has any; a container
 * without a command of its own is removed by the engine when that ends.
 * @throws INVALID_REQUEST, UNSUPPORTED for what the command cannot be told
 */
export function createArguments(spec: ContainerSpec, { platform, binary }: CreateCircumstances): readonly string[] {
  if (!nameForm.test(spec.name)) {
    throw invalidField("name", "2 to 63 lower-case letters, digits and dashes, no dash first", spec.name);
  }
  const volumes = sizedVolumes(spec);
  const shipped = { source: path.dirname(binary.path), target: supervisorFolder, readOnly: true };
  return [
    "create",
    option("name", spec.name),
    ...(spec.command === undefined ? ["--rm"] : []),
    "--interactive",
    option("platform", platform),
    option("user", "0:0"),
    option("workdir", "/"),
    ...Object.entries(spec.labels).map(([name, value]) => labelOption(name, value)),
    ...limitOptions(spec),
    // No interface at all, and nobody to ask for names.
    option("network", "none"),
    "--no-dns",
    option("cap-drop", "ALL"),
    ...supervisorCapabilities(spec).map((name) => option("cap-add", name)),
    ...(spec.writableRoot === undefined ? ["--read-only"] : []),
    ...volumes.map(volumeOption),
    ...spec.scratch.filter(({ path: at }) => volumes.every((volume) => volume.path !== at)).map(scratchOption),
    ...[...(spec.mounts ?? []), shipped].map(mountOption),
    // Replaces the image's entry point and its command.
    option("entrypoint", `${supervisorFolder}/${path.basename(binary.path)}`),
    "--",
    spec.image,
  ];
}
