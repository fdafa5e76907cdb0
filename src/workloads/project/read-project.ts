import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { HostFolder } from "../../sandbox/copy/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";

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
  return { names, manifest: names.includes("package.json") ? await readManifest(folder) : "" };
}

async function readManifest(folder: HostFolder): Promise<string> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  try {
    await using file = await open(folder.at("package.json"), flags);
    const bytes = (await file.stat()).isFile() ? await readBounded(file, maxManifestBytes) : null;
    return bytes === null ? "" : Buffer.from(bytes).toString("utf8");
  } catch {
    // Gone, a link, or not readable: it says nothing about the project.
    return "";
  }
}
