import { readdir } from "node:fs/promises";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { readOwnText } from "./own-files.ts";

/** What a project's own files say about it. */
export interface ReadProject {
  /** Of what stands in its folder. */
  readonly names: readonly string[];
  /** Text of `package.json`, empty where it is no plain file of a common size. */
  readonly manifest: string;
}

const maxManifestBytes = 1024 * 1024;

/** Looks at the folder of a project: names, and `package.json`. @throws NOT_FOUND, PERMISSION_DENIED */
export async function readProject(
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<ReadProject> {
  await using folder = await HostFolder.of(project, platform);
  const names = await onHost(".", readdir(folder.self));
  return {
    names,
    manifest: names.includes("package.json") ? await readOwnText(folder, "package.json", maxManifestBytes) : "",
  };
}
