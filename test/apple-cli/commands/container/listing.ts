import { containerJson } from "../../container/container-json.ts";
import { mebibyte } from "../../container/sizes.ts";
import type { Work } from "../../context.ts";
import type { Found } from "../../docker/containers.ts";
import { CommandError, ConnectionError } from "../../output/command-error.ts";
import { isAtLeast } from "../../parser/version.ts";
import { hasBuilder } from "../../state/builder.ts";
import { builderContainer } from "../builder.ts";
import { printInspection, printList } from "../print-list.ts";

const header = ["ID", "IMAGE", "OS", "ARCH", "STATE", "IP", "CPUS", "MEMORY", "STARTED"];

function rowOf({ configuration, status }: Found): readonly string[] {
  const { id, image, platform, cpus, memoryBytes } = configuration;
  const started = status.startedMs === undefined ? "" : `${new Date(status.startedMs).toISOString().slice(0, 19)}Z`;
  const address = status.attachments.map(({ address }) => address).join(",");
  const memory = `${Math.floor(memoryBytes / mebibyte)} MB`;
  return [
    id,
    image.reference,
    platform.os,
    platform.architecture,
    status.state,
    address,
    String(cpus),
    memory,
    started,
  ];
}

/** Shows containers; without --all only running ones. */
export const list: Work = async (context) => {
  const { containers, folder, options, settings, fault } = context;
  const own = await containers.list();
  const found = hasBuilder(folder) ? [...own, builderContainer()] : own;
  if (fault === "interrupted") throw new ConnectionError("interrupted", "failed to list containers");
  const ignoresState =
    options.has("all") || (options.one("format") === "json" && !isAtLeast(settings.version, "0.2.0"));
  const shown = found.filter(({ status }) => ignoresState || status.state === "running");
  printList(context, {
    json: shown.map(({ configuration, status }) => containerJson(settings.version, configuration, status)),
    names: shown.map(({ configuration }) => configuration.id),
    header,
    rows: shown.map(rowOf),
  });
};

/** Shows everything about the named containers. */
export const inspect: Work = async (context) => {
  const { containers, options, settings, fault } = context;
  const ids = [...new Set(options.arguments)];
  const found = await Promise.all(ids.map((id) => containers.find(id)));
  if (fault === "interrupted") throw new ConnectionError("interrupted");
  const missing = ids.filter((_, index) => found[index] === undefined).toSorted();
  if (missing.length > 0 && isAtLeast(settings.version, "1.0.0")) {
    throw new CommandError("notFound", `container not found: ${missing.join(", ")}`);
  }
  const there = found.filter((each) => each !== undefined);
  printInspection(
    context,
    there.map(({ configuration, status }) => containerJson(settings.version, configuration, status)),
  );
};
