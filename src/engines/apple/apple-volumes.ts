import { mebibyte } from "../../base/bytes.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { labelOption, parseVolumes, type VolumeFacts } from "./command-format.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { refusal } from "./apple-errors.ts";
import { readAnswer, type ContainerCommand } from "./container-command.ts";

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

/** Makes a container's volumes, one after another; what fails leaves those that were made to `removeVolumes`. */
export async function createVolumes(
  command: ContainerCommand,
  volumes: readonly SizedVolume[],
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const [volume, ...rest] = volumes;
  if (volume === undefined) return;
  const action = "create a volume";
  const result = await command.run({ action, words: volumeArguments(volume, labels), deadline: "create" });
  if (result.exitCode !== 0) throw refusal(action, result);
  await createVolumes(command, rest, labels);
}

/** All volumes of the service, whoever made them. */
export function listVolumes(
  command: ContainerCommand,
  signal: AbortSignal | undefined,
): Promise<readonly VolumeFacts[]> {
  const words = ["volume", "list", "--format=json"];
  return readAnswer(command, { action: "list volumes", words, deadline: "query", signal }, parseVolumes);
}

/** How often the removal of a volume that is still in use is tried again, and how long we wait in between. */
const maxTries = 3;
const againMs = 300;

/** Removes volumes whose container is gone; resolves when none of them is there, whoever removed them. */
export async function removeVolumes(
  command: ContainerCommand,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  let left = names;
  for (let tries = 1; left.length > 0; tries += 1) {
    const action = "remove volumes";
    const result = await command.run({
      action,
      words: ["volume", "delete", "--", ...left],
      deadline: "remove",
      signal,
    });
    if (result.exitCode === 0) return;
    const there = new Set((await listVolumes(command, signal)).map(({ name }) => name));
    left = left.filter((name) => there.has(name));
    if (left.length > 0 && tries === maxTries) throw refusal(action, result);
    await sleep(left.length > 0 ? againMs : 0, undefined, { signal });
  }
}
