import { readFileSync } from "node:fs";
import type { ContainerStats } from "../container-stats.ts";
import type { GroupPlaces, CgroupVersion } from "./cgroup-places.ts";

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

function sumOf(text: string, counts: RegExp): number {
  return [...text.matchAll(counts)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
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

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}
