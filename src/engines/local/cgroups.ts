import type { ContainerLimits } from "../container-spec.ts";
import {
  socketBytes,
  socketLimitFile,
  GroupCounters,
  controllers,
  meters,
  parseCgroupPlaces,
  type CgroupVersion,
  type Controller,
  type GroupPlaces,
} from "../control-groups.ts";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { groupName, groupsFolder, parseGroupOwner, hasEnded, readOwner, type GroupOwner } from "./group-owner.ts";

/** One file of a group to write. */
interface LimitWrite {
  readonly file: string;
  readonly value: string;
  /** Whether a kernel without it (no swap accounting) still enforces the limit. */
  readonly optional?: true;
}

const periodMicroseconds = 100_000;
/** The kernel takes no less. */
const minQuotaMicroseconds = 1_000;

/** What sets one controller's limit, in this order. */
export function limitWrites(
  controller: Controller,
  version: CgroupVersion,
  { memoryBytes, pids, cpus }: ContainerLimits,
): readonly LimitWrite[] {
  const memory = String(memoryBytes);
  const quota = String(Math.max(minQuotaMicroseconds, Math.round(cpus * periodMicroseconds)));
  const period = String(periodMicroseconds);
  switch (controller) {
    case "memory":
      return version === 1
        ? [
            { file: "memory.limit_in_bytes", value: memory },
            { file: "memory.memsw.limit_in_bytes", value: memory, optional: true },
            // Counted apart from the rest, and only once it has a limit; version 2 counts it with the rest.
            { file: socketLimitFile, value: String(socketBytes(memoryBytes)), optional: true },
          ]
        : [
            { file: "memory.max", value: memory },
            { file: "memory.swap.max", value: "0", optional: true },
          ];
    case "pids":
      return [{ file: "pids.max", value: String(pids) }];
    case "cpu":
      return version === 1
        ? [
            { file: "cpu.cfs_period_us", value: period },
            { file: "cpu.cfs_quota_us", value: quota },
          ]
        : [{ file: "cpu.max", value: `${quota} ${period}` }];
    case "cpuacct":
    case "blkio":
      return [];
  }
}

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

const removalTries = 60;

/** Control groups that this process can make, and what dead processes left there. */
export class Cgroups {
  /** Folder that our groups of each controller stand in; a controller that we may not use is missing. */
  readonly places: GroupPlaces;
  readonly #owner: GroupOwner;

  private constructor(places: GroupPlaces, owner: GroupOwner) {
    this.places = places;
    this.#owner = owner;
  }

  /** Tries what can be used; never fails. */
  static open(): Cgroups {
    const { version1, version2 } = parseCgroupPlaces(
      readFileSync("/proc/self/mountinfo", "utf8"),
      readFileSync("/proc/self/cgroup", "utf8"),
    );
    const places: GroupPlaces = new Map();
    for (const controller of [...controllers, ...meters]) {
      const point = version1[controller];
      if (point !== undefined && canMake(`${point}/${groupsFolder}`)) {
        places.set(controller, { folder: `${point}/${groupsFolder}`, version: 1 });
      }
    }
    const missing = controllers.filter((controller) => !places.has(controller));
    for (const folder of version2) {
      const enabled = missing.length === 0 ? [] : enableControllers(folder, missing);
      for (const controller of enabled) places.set(controller, { folder: `${folder}/${groupsFolder}`, version: 2 });
      if (enabled.length > 0) break;
    }
    const cgroups = new Cgroups(places, readOwner(0));
    const trial = groupName(cgroups.#owner, "trial");
    for (const [controller, { folder, version }] of places) {
      if (!keepsLimit(`${folder}/${trial}`, controller, version)) places.delete(controller);
    }
    return cgroups;
  }

  /** None at all: for a host where they turn out to be unusable. */
  static none(): Cgroups {
    return new Cgroups(new Map(), readOwner(0));
  }

  /** Version 2 counts it in every group. */
  get countsCpuTime(): boolean {
    return this.places.has("cpuacct") || [...this.places.values()].some(({ version }) => version === 2);
  }

  /**
   * A file that a process of ours writes 0 to some milliseconds before another one joins a group; null where there are no
   * groups. The first process in a while that moves between groups waits for the whole kernel (7 ms), and those that
   * follow soon do not. The group is the one above all containers', without limits; whether it takes the process does not
   * matter.
   */
  get announcement(): string | null {
    const [first] = this.#folders();
    return first === undefined ? null : `${first}/cgroup.procs`;
  }

  /** @throws Error when the kernel refuses it */
  create(container: string, limits: ContainerLimits): ContainerGroup {
    return new ContainerGroup(this.places, groupName(this.#owner, container), limits);
  }

  /** Ends and removes what processes that no longer exist have left; never fails. */
  async sweep(): Promise<void> {
    for (const folder of this.#folders()) {
      const dead = foldersIn(folder).filter((name) => this.#isLeftOver(name));
      await Promise.all(
        dead.map((name) =>
          removeGroup(`${folder}/${name}`).catch(() => {
            // The next sweep tries again.
          }),
        ),
      );
    }
  }

  /** Removes the folders that hold our groups, if no other server of ours uses them. */
  close(): void {
    for (const folder of this.#folders()) removeFolder(folder);
  }

  #folders(): readonly string[] {
    return [...new Set([...this.places.values()].map(({ folder }) => folder))];
  }

  #isLeftOver(name: string): boolean {
    const owner = parseGroupOwner(name);
    return owner !== null && hasEnded(owner, this.#owner);
  }
}

/** Whether a group can be made and limited. */
function keepsLimit(folder: string, controller: Controller, version: CgroupVersion): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    const limits = { cpus: 1, memoryBytes: 2 ** 26, pids: 16 };
    for (const write of limitWrites(controller, version, limits)) writeLimit(folder, write);
    return true;
  } catch {
    return false;
  } finally {
    removeFolder(folder);
  }
}

function canMake(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** Those of the controllers that groups under `folder`/glovebox can then have. */
function enableControllers(folder: string, wanted: readonly Controller[]): readonly Controller[] {
  const ours = `${folder}/${groupsFolder}`;
  if (!canMake(ours)) return [];
  for (const parent of [folder, ours]) {
    for (const controller of wanted) {
      try {
        writeFileSync(`${parent}/cgroup.subtree_control`, `+${controller}`);
      } catch {
        // Already enabled by its owner, or not available: the next step shows which.
      }
    }
    try {
      writeFileSync(`${parent}/cgroup.subtree_control`, "+io");
    } catch {
      // Then the bytes of disks are not counted.
    }
  }
  const enabled = readFileSync(`${ours}/cgroup.subtree_control`, "utf8").split(/\s+/);
  const found = wanted.filter((controller) => enabled.includes(controller));
  if (found.length === 0) removeFolder(ours);
  return found;
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // In use, or never made.
  }
}

/** Writes one limit of a group. @throws Error when the kernel refuses one that is not optional */
function writeLimit(folder: string, { file, value, optional }: LimitWrite): void {
  try {
    writeFileSync(`${folder}/${file}`, value);
  } catch (error) {
    if (optional !== true) throw error;
  }
}

/**
 * Removes one group, killing whatever is in it; resolves also when it is gone.
 * The kernel refuses for some milliseconds after the last process has ended.
 */
async function removeGroup(folder: string): Promise<void> {
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
