import { mebibyte } from "../../base/bytes.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { labelOption } from "./label-option.ts";

/** A volume with a size, on this machine's disk, that one container has for scratch. */
export interface SizedVolume {
  readonly name: string;
  /** Where the container has it. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** A file system on a smaller disk would be little but its own records. */
const minVolumeBytes = 64 * mebibyte;

/** The volumes of a container, for scratch that its memory has no room for: more than half of it. */
export function sizedVolumes({ name, scratch, limits }: ContainerSpec): readonly SizedVolume[] {
  const sum = scratch.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  if (sum <= limits.memoryBytes / 2) return [];
  return scratch
    .filter(({ sizeBytes }) => sizeBytes >= minVolumeBytes)
    .map((place, index) => ({ ...place, name: `${name}.${index}` }));
}

/** Name of the container that a volume was made for; null for one that is none of ours. */
export function containerOfVolume(name: string): string | null {
  return /^([a-z0-9][a-z0-9-]+)\.\d+$/.exec(name)?.[1] ?? null;
}

/** Names of volumes. */
export function namesOf(volumes: readonly SizedVolume[]): readonly string[] {
  return volumes.map(({ name }) => name);
}

/** Argument vector that makes a volume, with its container's labels: whole MiB, rounded down. */
export function volumeArguments(
  { name, sizeBytes }: SizedVolume,
  labels: Readonly<Record<string, string>>,
): readonly string[] {
  const named = Object.entries(labels).map(([key, value]) => labelOption(key, value));
  return ["volume", "create", ...named, `-s=${Math.floor(sizeBytes / mebibyte)}m`, "--", name];
}
