import { readFileSync } from "node:fs";
import type { ContainerStats } from "./container-stats.ts";
import { mebibyte } from "../base/bytes.ts";
import { readFile } from "node:fs/promises";

export type CgroupVersion = 1 | 2;

/** Controllers that a container's limits need. */
export const controllers = ["memory", "pids", "cpu"] as const;

/** Version 1 counts CPU time and bytes of disks in hierarchies of their own; in version 2 every group has the former. */
export const meters = ["cpuacct", "blkio"] as const;
export type Controller = (typeof controllers)[number] | (typeof meters)[number];

/** Folder that groups of a controller stand in. */
export type GroupPlaces = Map<Controller, { readonly folder: string; readonly version: CgroupVersion }>;

/** Where groups of ours may be made, as far as the mounts tell; whether they may is found by trying. */
interface CgroupPlaces {
  /** Mount point of each controller's own hierarchy (version 1). */
  readonly version1: Readonly<Partial<Record<Controller, string>>>;
  /** Folders of the unified hierarchy (version 2), topmost first: its root, then down to our own group. */
  readonly version2: readonly string[];
}

interface Mount {
  readonly point: string;
  readonly root: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** Reads /proc/self/mountinfo and /proc/self/cgroup. */
export function parseCgroupPlaces(mountInfo: string, ownGroups: string): CgroupPlaces {
  const mounts = mountInfo
    .split("\n")
    .filter((line) => line !== "")
    .map(parseMount);
  const version1: Partial<Record<Controller, string>> = {};
  for (const { type, point, options } of mounts) {
    if (type !== "cgroup") continue;
    for (const controller of [...controllers, ...meters])
      if (options.includes(controller)) version1[controller] ??= point;
  }
  const unified = mounts.find(({ type }) => type === "cgroup2");
  const own = /^0::(\/.*)$/m.exec(ownGroups)?.[1];
  return { version1, version2: unified === undefined ? [] : foldersDownTo(unified, own ?? "/") };
}

/** Files that tell what a group has used. */
const usageFiles: Readonly<Record<CgroupVersion, { readonly cpu: string; readonly disk: string }>> = {
  1: { cpu: "cpuacct.usage", disk: "blkio.throttle.io_service_bytes" },
  2: { cpu: "cpu.stat", disk: "io.stat" },
};

/** CPU time in milliseconds, from `cpuacct.usage` (nanoseconds) or `cpu.stat`; null when it does not say. */
export function parseCpuTimeMs(text: string): number | null {
  const microseconds = /^usage_usec (\d+)$/m.exec(text)?.[1];
  if (microseconds !== undefined) return Number(microseconds) / 1_000;
  return /^\d+\n?$/.test(text) ? Number(text) / 1_000_000 : null;
}

/** Bytes of all devices together, from `blkio.throttle.io_service_bytes` or `io.stat`. */
export function parseDiskBytes(text: string): { readonly read: number; readonly written: number } {
  return {
    read: sumOf(text, /^\S+ (?:Read |rbytes=)(\d+)/gm),
    written: sumOf(text, /^\S+ (?:Write |rbytes=\d+ wbytes=)(\d+)/gm),
  };
}

/** Files with a group's memory use; version 2 reports no peak before Linux 5.19. */
const memoryFiles: Readonly<
  Record<
    CgroupVersion,
    { readonly usage: string; readonly peak: string; readonly events: string; readonly kinds: string }
  >
> = {
  1: {
    usage: "memory.usage_in_bytes",
    peak: "memory.max_usage_in_bytes",
    events: "memory.oom_control",
    kinds: "memory.stat",
  },
  2: { usage: "memory.current", peak: "memory.peak", events: "memory.events", kinds: "memory.stat" },
};

/** Processes killed for want of memory, from `memory.oom_control` or `memory.events`; null when it does not say. */
export function parseOomKills(events: string): number | null {
  const count = /^oom_kill (\d+)$/m.exec(events)?.[1];
  return count === undefined ? null : Number(count);
}

/** Bytes of memory that hold files, from `memory.stat`; null when it does not say. */
export function parseCacheBytes(kinds: string): number | null {
  const bytes = /^(?:cache|file) (\d+)$/m.exec(kinds)?.[1];
  return bytes === undefined ? null : Number(bytes);
}

/** What the kernel counts for one control group, which has the same name below each place; null for what it does not count. */
export class GroupCounters {
  readonly #places: GroupPlaces;
  readonly #name: string;

  constructor(places: GroupPlaces, name: string) {
    this.#places = places;
    this.#name = name;
  }

  get stats(): ContainerStats {
    const events = this.#readMemory("events");
    const kinds = this.#readMemory("kinds");
    const cpu = this.#readUsage("cpuacct", "cpu");
    const disk = this.#readUsage("blkio", "disk");
    const { read, written } = disk === null ? { read: null, written: null } : parseDiskBytes(disk);
    return {
      memoryBytes: numberOf(this.#readMemory("usage")),
      memoryCacheBytes: kinds === null ? null : parseCacheBytes(kinds),
      scratchBytes: null,
      memoryPeakBytes: numberOf(this.#readMemory("peak")),
      oomKills: events === null ? null : parseOomKills(events),
      cpuTimeMs: cpu === null ? null : parseCpuTimeMs(cpu),
      diskReadBytes: read,
      diskWriteBytes: written,
    };
  }

  #readMemory(what: "usage" | "peak" | "events" | "kinds"): string | null {
    const place = this.#places.get("memory");
    return place === undefined ? null : this.#read(place, memoryFiles[place.version][what]);
  }

  /** Version 2 counts in every group. */
  #readUsage(meter: "cpuacct" | "blkio", what: "cpu" | "disk"): string | null {
    const place = this.#places.get(meter) ?? [...this.#places.values()].find(({ version }) => version === 2);
    return place === undefined ? null : this.#read(place, usageFiles[place.version][what]);
  }

  #read({ folder }: { readonly folder: string }, file: string): string | null {
    try {
      return readFileSync(`${folder}/${this.#name}/${file}`, "utf8");
    } catch {
      // An older kernel without this file, or the group is gone.
      return null;
    }
  }
}

/** File of a group of version 1 with the limit of its sockets' buffers, which version 2 counts with the rest. */
export const socketLimitFile = "memory.kmem.tcp.limit_in_bytes";

/**
 * What the buffers of all TCP and UDP sockets of a container may take: a quarter of its memory, as they come on top of
 * it, and at most 64 MiB, far more than servers and their clients on one loopback have in flight. Who would send more
 * waits.
 */
export function socketBytes(memoryBytes: number): number {
  return Math.min(64 * mebibyte, Math.floor(memoryBytes / 4));
}

interface GroupOf {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
}

/**
 * What counts for a container in this machine's kernel; null when the container is on another machine, or its control groups
 * cannot be seen from here. No other container's group has the name, so that it can be kept while it counts.
 */
export async function groupCounters(group: GroupOf): Promise<GroupCounters | null> {
  const found = await groupOf(group);
  return found === null ? null : new GroupCounters(found.places, found.name);
}

/** The container's group on this machine; null when it is on another machine, or cannot be seen from here. */
export async function groupOf({ id, processId }: GroupOf): Promise<FoundGroup | null> {
  const [groups, places] = await Promise.all([readProcess(`${processId}/cgroup`), ownPlaces()]);
  return findGroup(groups, id, places);
}

/** Where control groups are mounted here. */
export async function ownPlaces(): Promise<CgroupPlaces> {
  const [mounts, own] = await Promise.all([readProcess("self/mountinfo"), readProcess("self/cgroup")]);
  return parseCgroupPlaces(mounts, own);
}

/** Where the groups of one container are, and their name below each place. */
interface FoundGroup {
  readonly places: GroupPlaces;
  readonly name: string;
}

/** The container's group, by the line of `/proc/PID/cgroup` that names its memory; the number may be another machine's. */
export function findGroup(groups: string, id: string, { version1, version2 }: CgroupPlaces): FoundGroup | null {
  const names = new Map<string, string>();
  for (const [, list = "", name = ""] of groups.matchAll(/^\d+:([^:\n]*):(\/.*)$/gm))
    for (const controller of list.split(",")) names.set(controller, name);
  const version = version1.memory === undefined ? 2 : 1;
  const name = names.get(version === 1 ? "memory" : "");
  if (name === undefined || !name.includes(id)) return null;
  const places: GroupPlaces = new Map();
  for (const controller of [...controllers, ...meters]) {
    const folder = version === 1 ? version1[controller] : version2[0];
    const isThere = version === 2 || names.get(controller) === name;
    if (folder !== undefined && isThere) places.set(controller, { folder, version });
  }
  return { places, name };
}

/** `36 35 98:0 /root /point rw shared:1 - type source options`; spaces in paths are octal. */
function parseMount(line: string): Mount {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", point = ""] = before.split(" ").map(unescape);
  const [type = "", , options = ""] = after.split(" ");
  return { point, root, type, options: options.split(",") };
}

function unescape(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function foldersDownTo({ root, point }: Mount, own: string): readonly string[] {
  const folders = [point];
  const inside = root === "/" ? own : own.startsWith(`${root}/`) ? own.slice(root.length) : "/";
  // A path with `..` lies outside what our cgroup namespace shows.
  if (inside.includes("..")) return folders;
  for (const name of inside.split("/").filter(Boolean)) folders.push(`${folders.at(-1)}/${name}`);
  return folders;
}

function sumOf(text: string, counts: RegExp): number {
  return [...text.matchAll(counts)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

function readProcess(name: string): Promise<string> {
  return readFile(`/proc/${name}`, "latin1").catch(() => "");
}
