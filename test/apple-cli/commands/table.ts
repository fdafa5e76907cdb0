import type { Work } from "../context.ts";
import { buildImage } from "./build.ts";
import { builderStatus, removeBuilder, startBuilder } from "./builder.ts";
import { kill, prune, remove, stop } from "./container/ending.ts";
import { exec } from "./container/exec.ts";
import { copy, exportRoot } from "./container/files.ts";
import { deleteImages, inspectImages, listImages, pull, tagImage } from "./image.ts";
import { inspect, list } from "./container/listing.ts";
import { logs } from "./container/logs.ts";
import { createNetwork, deleteNetworks, inspectNetworks, listNetworks } from "./network.ts";
import { create, run } from "./container/run.ts";
import { start } from "./container/start.ts";
import { stats } from "./container/stats.ts";
import { diskUsage, startDaemon, status, stopDaemon, version } from "./system.ts";
import { createVolume, deleteVolumes, inspectVolumes, listVolumes, pruneVolumes } from "./volume.ts";

/** The implementation of each command; Apple's commands that are missing here are refused loudly. */
export const commandTable: Readonly<Record<string, Work>> = {
  run,
  create,
  start,
  stop,
  kill,
  delete: remove,
  list,
  inspect,
  exec,
  logs,
  prune,
  stats,
  copy,
  export: exportRoot,
  build: buildImage,
  "builder start": startBuilder,
  "builder status": builderStatus,
  "builder stop": removeBuilder,
  "builder delete": removeBuilder,
  "image pull": pull,
  "image list": listImages,
  "image inspect": inspectImages,
  "image delete": deleteImages,
  "image tag": tagImage,
  "volume create": createVolume,
  "volume list": listVolumes,
  "volume inspect": inspectVolumes,
  "volume delete": deleteVolumes,
  "volume prune": pruneVolumes,
  "network create": createNetwork,
  "network list": listNetworks,
  "network inspect": inspectNetworks,
  "network delete": deleteNetworks,
  "system start": startDaemon,
  "system stop": stopDaemon,
  "system status": status,
  "system version": version,
  "system df": diskUsage,
};
