import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerLimits } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import { limitWrites, memoryFiles, parseOomKills, type CgroupVersion, type LimitWrite } from "./cgroup-limits.ts";
import { parseCpuTimeMs, parseDiskBytes, usageFiles } from "./cgroup-usage.ts";
import type { Controller } from "./cgroup-places.ts";

/** Folder that groups of a controller stand in. */
export type GroupPlaces = Map<Controller, { readonly folder: string; readonly version: CgroupVersion }>;

/** Bubblewrap and the sandbox's first process, which are not the program's. */
const processesOfASandbox = 2;

/** The control groups of one container: one folder for each hierarchy. */
export class ContainerGroup {
  readonly #places: GroupPlaces;
  readonly #name: string;
  readonly #pids: number;
  #sandboxes = 0;

  /** @throws Error when the kernel refuses a folder or a limit; then nothing is left */
  constructor(places: GroupPlaces, name: string, limits: ContainerLimits) {
    this.#places = places;
    this.#name = name;
    this.#pids = limits.pids;
    try {
      for (const folder of this.#folders()) mkdirSync(folder, { recursive: true });
      for (const [controller, { folder, version }] of places) {
        for (const write of limitWrites(controller, version, limits)) writeLimit(`${folder}/${name}`, write);
      }
    } catch (error) {
      for (const folder of this.#folders()) removeIfThere(folder);
      throw error;
    }
  }

  /** A process that writes 0 to each of them joins. */
  get joinFiles(): readonly string[] {
    return this.#folders().map((folder) => `${folder}/cgroup.procs`);
  }

  /**
   * Makes room for a sandbox's own processes, so that the limit applies to the program's alone; false: one has ended.
   */
  countSandbox(begins: boolean): void {
    this.#sandboxes += begins ? 1 : -1;
    const place = this.#places.get("pids");
    if (place === undefined) return;
    const value = String(this.#pids + this.#sandboxes * processesOfASandbox);
    // Optional, because the group may have been removed from outside.
    writeLimit(`${place.folder}/${this.#name}`, { file: "pids.max", value, optional: true });
  }

  get memoryBytes(): number | null {
    return this.#number("usage");
  }

  get memoryPeakBytes(): number | null {
    return this.#number("peak");
  }

  get oomKills(): number | null {
    const events = this.#read("events");
    return events === null ? null : parseOomKills(events);
  }

  /** What its processes have used; null for what is not counted. */
  get usage(): Pick<ContainerStats, "cpuTimeMs" | "diskReadBytes" | "diskWriteBytes"> {
    const cpu = this.#readUsage("cpuacct", "cpu");
    const disk = this.#readUsage("blkio", "disk");
    const { read, written } = disk === null ? { read: null, written: null } : parseDiskBytes(disk);
    return { cpuTimeMs: cpu === null ? null : parseCpuTimeMs(cpu), diskReadBytes: read, diskWriteBytes: written };
  }

  /** Kills whatever may still be in the group. @throws Error when the kernel still keeps it after seconds */
  async remove(): Promise<void> {
    await Promise.all(this.#folders().map(removeGroup));
  }

  #folders(): readonly string[] {
    return [...new Set([...this.#places.values()].map(({ folder }) => `${folder}/${this.#name}`))];
  }

  #read(what: keyof (typeof memoryFiles)[CgroupVersion]): string | null {
    const place = this.#places.get("memory");
    return place === undefined ? null : this.#readFile(place, memoryFiles[place.version][what]);
  }

  /** Version 2 counts in every group. */
  #readUsage(meter: "cpuacct" | "blkio", what: keyof (typeof usageFiles)[CgroupVersion]): string | null {
    const place = this.#places.get(meter) ?? [...this.#places.values()].find(({ version }) => version === 2);
    return place === undefined ? null : this.#readFile(place, usageFiles[place.version][what]);
  }

  #readFile({ folder }: { readonly folder: string }, file: string): string | null {
    try {
      return readFileSync(`${folder}/${this.#name}/${file}`, "utf8");
    } catch {
      // An older kernel without this file, or the group is gone.
      return null;
    }
  }

  #number(what: "usage" | "peak"): number | null {
    const text = this.#read(what);
    return text === null ? null : Number(text);
  }
}

/** Writes one limit of a group. @throws Error when the kernel refuses one that is not optional */
export function writeLimit(folder: string, { file, value, optional }: LimitWrite): void {
  try {
    writeFileSync(`${folder}/${file}`, value);
  } catch (error) {
    if (optional !== true) throw error;
  }
}

const removalTries = 60;

/**
 * Removes one group, killing whatever is in it; resolves also when it is gone.
 * The kernel refuses for some milliseconds after the last process has ended.
 */
export async function removeGroup(folder: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      rmdirSync(folder);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      if (tries === removalTries) throw error;
    }
    killMembers(folder);
    await sleep(Math.min(100, 1 + tries * 2));
  }
}

function killMembers(folder: string): void {
  try {
    const members = readFileSync(`${folder}/cgroup.procs`, "utf8").split("\n").map(Number);
    // 0 stands for a process that our namespace cannot name.
    for (const processId of members) if (processId > 0) process.kill(processId, "SIGKILL");
  } catch {
    // A process ended meanwhile, or the group did: the next try shows.
  }
}

function removeIfThere(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Never made.
  }
}
