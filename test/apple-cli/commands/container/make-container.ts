import { randomUUID } from "node:crypto";
import { readConfiguration, type Configuration } from "../../container/configuration.ts";
import { createBody } from "../../container/create-body.ts";
import { readName } from "../../container/names.ts";
import type { Context } from "../../context.ts";
import { DockerError } from "../../docker/docker-api.ts";
import { marks, scopedName } from "../../docker/marks.ts";
import { Networks } from "../../docker/networks.ts";
import { defaultVolumeBytes, Volumes } from "../../docker/volumes.ts";
import { CommandError, NotImitated } from "../../output/command-error.ts";
import { isAtLeast } from "../../parser/version.ts";
import { UsageError } from "../../parser/usage-error.ts";
import { needImage } from "../need-image.ts";

/** Options that the parser knows but that have no effect here. */
const notImitated = ["publish-socket", "init-image", "kernel", "kernel-arg", "runtime"];

function refuseWhatIsMissing({ options }: Context): void {
  const used = notImitated.find((name) => options.one(name) !== undefined);
  if (used !== undefined) throw new NotImitated(`--${used} is not imitated`);
}

/** Options that the parser refuses together, from 1.0.0 on. */
function refuseContradictions({ options, settings }: Context, verb: string): void {
  const servers = ["dns", "dns-domain", "dns-option", "dns-search"].some((name) => options.one(name) !== undefined);
  if (!options.has("no-dns") || !servers || !isAtLeast(settings.version, "1.0.0")) return;
  const usage = `${verb} [<options>] <image> [<arguments> ...]`;
  throw new UsageError("`--no-dns` cannot be used with other DNS options", { usage, command: verb });
}

async function needMounts(configuration: Configuration, { api, settings, say }: Context): Promise<void> {
  const volumes = new Volumes(api, settings.scope);
  for (const { volume, anonymous } of configuration.mounts) {
    if (volume === undefined || (await volumes.find(volume)) !== undefined) continue;
    await volumes.create({
      name: volume,
      createdMs: Date.now(),
      labels: {},
      options: {},
      sizeBytes: defaultVolumeBytes,
    });
    if (anonymous !== true) say.err(`named volume was automatically created: ["volume": "${volume}"]`);
  }
}

/** Makes the container that `run` or `create` describes, and returns what it is. */
export async function makeContainer(context: Context, verb: "run" | "create"): Promise<Configuration> {
  const { api, containers, options, settings, fault } = context;
  const id = readName(settings.version, options.one("name"));
  refuseContradictions(context, verb);
  if (verb === "run" && (await containers.find(id)) !== undefined) {
    throw new CommandError("exists", `container with id ${id} already exists`);
  }
  const image = await needImage(context, options.argument(0));
  refuseWhatIsMissing(context);
  const configuration = readConfiguration(id, options, image, {
    version: settings.version,
    variables: context.variables,
    cwd: context.cwd,
    now: Date.now(),
    newName: randomUUID,
  });
  const networks = new Networks(api, settings.scope);
  for (const { network } of configuration.networks) {
    if (!(await networks.exists(network))) throw new CommandError("notFound", `network ${network} not found`);
  }
  await needMounts(configuration, context);
  const detached = verb === "run" && options.has("detach");
  const body = createBody(configuration, {
    version: settings.version,
    imageId: image.id,
    labels: { [marks.scope]: settings.scope, [marks.configuration]: JSON.stringify(configuration) },
    volumeName: (name) => scopedName(settings.scope, name),
    networkName: (name) => networks.nameOf(name),
    cutOff: fault === "network-dead",
    openStdin: configuration.interactive && !detached,
  });
  try {
    await api.json("POST", `/containers/create?name=${encodeURIComponent(containers.nameOf(id))}`, body);
  } catch (error) {
    throw createError(error, id);
  }
  return configuration;
}

function createError(error: unknown, id: string): unknown {
  if (!(error instanceof DockerError)) return error;
  if (error.status === 409) return new CommandError("exists", `container already exists: ${id}`);
  return new CommandError("internalError", "failed to create container", new CommandError("unknown", error.message));
}
