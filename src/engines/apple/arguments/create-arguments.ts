import { invalidField } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { keeperUserOf, openFoldersOf, processUserOf } from "../../inside/container-users.ts";
import { keeperCommand } from "../../inside/keeper-script.ts";
import { labelOption } from "./label-option.ts";
import { limitOptions } from "./limit-options.ts";
import { mountOption, scratchOption, volumeOption } from "./mount-option.ts";
import { environmentOptions, option } from "./option.ts";
import { sizedVolumes } from "./sized-volumes.ts";

/** What the command takes as a name, which is the container's id too. */
const nameForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

/**
 * Argument vector that creates a container, without network and capabilities, with a read-only root.
 * A container without a command of its own runs the keeper and is removed by the engine when that ends.
 * @throws INVALID_REQUEST, UNSUPPORTED for what the command cannot be told
 */
export function createArguments(spec: ContainerSpec, platform: string): readonly string[] {
  if (!nameForm.test(spec.name)) {
    throw invalidField("name", "2 to 63 lower-case letters, digits and dashes, no dash first", spec.name);
  }
  const idle = spec.command === undefined;
  const volumes = sizedVolumes(spec);
  const [program = "", ...rest] = spec.command ?? keeperCommand(openFoldersOf(spec));
  return [
    "create",
    option("name", spec.name),
    ...(idle ? ["--rm"] : []),
    // A first process that passes signals on and collects what has ended.
    "--init",
    "--interactive",
    option("platform", platform),
    option("user", idle ? keeperUserOf(spec) : processUserOf(spec)),
    option("workdir", idle ? "/" : (spec.workingDirectory ?? "/")),
    // The keeper needs none of it; each exec gets it.
    ...environmentOptions(idle ? {} : (spec.environment ?? {})),
    ...Object.entries(spec.labels).map(([name, value]) => labelOption(name, value)),
    ...limitOptions(spec),
    // No interface at all, and nobody to ask for names.
    option("network", "none"),
    "--no-dns",
    option("cap-drop", "ALL"),
    ...(spec.rootCapabilities ?? []).map((name) => option("cap-add", name)),
    ...(spec.writableRoot === undefined ? ["--read-only"] : []),
    ...volumes.map(volumeOption),
    ...spec.scratch.filter(({ path }) => volumes.every((volume) => volume.path !== path)).map(scratchOption),
    ...(spec.mounts ?? []).map(mountOption),
    // Replaces the image's entry point and its command.
    option("entrypoint", program),
    // Words after it are the program's, whatever they look like.
    "--",
    spec.image,
    ...rest,
  ];
}
