import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerLimits } from "../container-spec.ts";
import type { GroupPlaces } from "../cgroups/cgroup-places.ts";
import { GroupCounters } from "../cgroups/group-counters.ts";
import { limitWrites, type LimitWrite } from "./cgroup-limits.ts";

/**
 * Processes of ours that count beside the programs': bubblewrap, the supervisor, its next file helper and a program's warden.
 * Each further program that runs at the same time has a warden that counts as one of its processes.
 */
export const ownProcesses = 4;

/** The control groups of one container: one folder for each hierarchy. */
export class ContainerGroup {
  readonly #places: GroupPlaces;
  readonly #name: string;
  readonly counters: GroupCounters;

  /** @throws Error when the kernel refuses a folder or a limit; then nothing is left */
  constructor(places: GroupPlaces, name: string, limits: ContainerLimits) {
    this.#places = places;
    this.#name = name;
    this.counters = new GroupCounters(places, name);
    const withOwn = { ...limits, pids: limits.pids + ownProcesses };
    try {
      for (const folder of this.#folders()) mkdirSync(folder, { recursive: true });
      for (const [controller, { folder, version }] of places) {
        for (const write of limitWrites(controller, version, withOwn)) writeLimit(`${folder}/${name}`, write);
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

  /** Kills whatever may still be in the group. @throws Error when the kernel still keeps it after seconds */
  async remove(): Promise<void> {
    await Promise.all(this.#folders().map(removeGroup));
  }

  #folders(): readonly string[] {
    return [...new Set([...this.#places.values()].map(({ folder }) => `${folder}/${this.#name}`))];
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
