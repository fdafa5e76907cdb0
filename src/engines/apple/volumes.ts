import { setTimeout as sleep } from "node:timers/promises";
import { parseVolumes, type VolumeFacts } from "./volume-answer.ts";
import { volumeArguments, type SizedVolume } from "./sized-volumes.ts";
import { refusal } from "./command-errors.ts";
import type { ContainerCommand } from "./container-command.ts";
import { readAnswer } from "./read-answer.ts";

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
