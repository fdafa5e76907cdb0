import { readLabels } from "../container/labels.ts";
import { mebibyte, readSize } from "../container/sizes.ts";
import { checkVolumeName } from "../container/volumes.ts";
import type { Context, Work } from "../context.ts";
import { defaultVolumeBytes, Volumes, type VolumeFacts } from "../docker/volumes.ts";
import { CommandError } from "../output/command-error.ts";
import { dateOf, type JsonObject } from "../output/swift-json.ts";
import { isAtLeast } from "../parser/version.ts";
import { deleteNamed } from "./delete-named.ts";
import { printInspection, printList } from "./print-list.ts";

const volumesOf = ({ api, settings }: Context): Volumes => new Volumes(api, settings.scope);

function volumeJson({ settings, folder }: Context, facts: VolumeFacts): JsonObject {
  const { name, createdMs, labels, options, sizeBytes } = facts;
  const created = dateOf(settings.version, createdMs);
  const source = `${folder}/app/volumes/${name}/volume.img`;
  const rest = { driver: "local", format: "ext4", labels, name, options, sizeInBytes: sizeBytes, source };
  if (!isAtLeast(settings.version, "1.0.0")) return { createdAt: created, ...rest };
  return { configuration: { creationDate: created, ...rest }, id: name };
}

function sizeOf({ options }: Context, given: Readonly<Record<string, string>>): number {
  const text = options.one("s") ?? given["size"];
  const bytes = text === undefined ? defaultVolumeBytes : readSize(text);
  if (bytes >= mebibyte) return bytes;
  throw new CommandError("invalidArgument", `volume size too small: minimum is 1 MiB`);
}

export const createVolume: Work = async (context) => {
  const { options, say } = context;
  const name = options.argument(0);
  checkVolumeName(name);
  const volumes = volumesOf(context);
  if ((await volumes.find(name)) !== undefined) throw new CommandError("exists", `volume '${name}' already exists`);
  const given = readLabels(options.all("opt"));
  await volumes.create({
    name,
    createdMs: Date.now(),
    labels: readLabels(options.all("label")),
    options: given,
    sizeBytes: sizeOf(context, given),
  });
  say.out(name);
};

export const listVolumes: Work = async (context) => {
  const found = await volumesOf(context).list();
  printList(context, {
    json: found.map((facts) => volumeJson(context, facts)),
    names: found.map(({ name }) => name),
    header: ["NAME", "TYPE", "DRIVER", "OPTIONS"],
    rows: found.map(({ name, options }) => [
      name,
      "named",
      "local",
      Object.entries(options)
        .map((entry) => entry.join("="))
        .join(","),
    ]),
  });
};

export const inspectVolumes: Work = async (context) => {
  const names = context.options.arguments;
  const found = await Promise.all(names.map((name) => volumesOf(context).find(name)));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) throw new CommandError("notFound", `volume not found: ${missing.join(", ")}`);
  printInspection(
    context,
    found.filter((each) => each !== undefined).map((facts) => volumeJson(context, facts)),
  );
};

/** Names of volumes that a container has, running or not. */
async function usedVolumes({ containers }: Context): Promise<ReadonlySet<string | undefined>> {
  const all = await containers.list();
  return new Set(all.flatMap(({ configuration }) => configuration.mounts.map(({ volume }) => volume)));
}

export const deleteVolumes: Work = async (context) => {
  const volumes = volumesOf(context);
  const used = await usedVolumes(context);
  const failed = context.options.arguments.some((name) => used.has(name))
    ? "delete failed for one or more volumes"
    : "failed to delete one or more volumes";
  await deleteNamed(context, { many: "volumes", failed }, async (name) => {
    if (used.has(name)) {
      context.say.err(`volume '${name}' is currently in use and cannot be accessed by another container, or deleted`);
      return false;
    }
    if ((await volumes.find(name)) === undefined) return false;
    await volumes.remove(name);
    return true;
  });
};

export const pruneVolumes: Work = async (context) => {
  const volumes = volumesOf(context);
  const used = await usedVolumes(context);
  for (const { name } of await volumes.list()) {
    if (used.has(name)) continue;
    await volumes.remove(name);
    context.say.out(name);
  }
  context.say.err("Reclaimed Zero KB in disk space");
};
