import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import type { ContainerLimits } from "../container-spec.ts";
import { controllers, meters, parseCgroupPlaces } from "../cgroups/cgroup-places.ts";
import type { CgroupVersion, Controller, GroupPlaces } from "../cgroups/cgroup-places.ts";
import { limitWrites } from "./cgroup-limits.ts";
import { groupName, groupsFolder, parseGroupOwner, type GroupOwner } from "./cgroup-names.ts";
import { hasEnded, readOwner } from "./owner-process.ts";
import { ContainerGroup, removeGroup, writeLimit } from "./container-group.ts";

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
