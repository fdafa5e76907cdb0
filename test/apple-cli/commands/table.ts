import type { Work } from "../context.ts";
import { kill, prune, remove, stop } from "./ending.ts";
import { exec } from "./exec.ts";
import { deleteImages, inspectImages, listImages, pull, tagImage } from "./image.ts";
import { inspect, list } from "./listing.ts";
import { logs } from "./logs.ts";
import { create, run } from "./run.ts";
import { start } from "./start.ts";
import { diskUsage, startDaemon, status, stopDaemon, version } from "./system.ts";

/** What is done for each command; those of Apple's that are missing here are refused loudly. */
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
  "image pull": pull,
  "image list": listImages,
  "image inspect": inspectImages,
  "image delete": deleteImages,
  "image tag": tagImage,
  "system start": startDaemon,
  "system stop": stopDaemon,
  "system status": status,
  "system version": version,
  "system df": diskUsage,
};
