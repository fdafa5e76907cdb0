import { readFileSync } from "node:fs";
import type { ContainerStats } from "../container-stats.ts";
import type { GroupPlaces } from "./cgroup-places.ts";
import {
  memoryFiles,
  parseCacheBytes,
  parseCpuTimeMs,
  parseDiskBytes,
  parseOomKills,
  usageFiles,
} from "./cgroup-usage.ts";

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

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}
