import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import { onHost } from "../../../sandbox/copy/on-host.ts";
import { readBounded } from "../../../sandbox/mounts/read-bounded.ts";
import { choosesNodeReporter, type WantedReporters } from "../inside/command-variables.ts";
import type { TestsSpec } from "../tests-spec.ts";
import { expectsBun, projectTools, type ProjectTools } from "./project-tools.ts";

/** What a project's own files say about its tests. */
export interface ReadProject {
  readonly tools: ProjectTools;
  readonly reporters: WantedReporters;
  /** What is run before the tests; null: nothing. */
  readonly setupCommand: string | null;
}

const maxManifestBytes = 1024 * 1024;

/** Looks at the folder of a project: names, and the scripts of `package.json`. @throws NOT_FOUND, PERMISSION_DENIED */
export async function readProject(
  { project, testCommand, setupCommand, includeIgnored }: TestsSpec,
  platform: NodeJS.Platform,
): Promise<ReadProject> {
  await using folder = await HostFolder.of(project, platform);
  const names = await onHost(".", readdir(folder.self));
  const manifest = names.includes("package.json") ? await readManifest(folder) : "";
  const tools = projectTools(testCommand, names);
  // Dependencies that are copied need no installation.
  const isCopied = includeIgnored && names.includes("node_modules") && tools.image !== "python";
  const install = isCopied ? null : tools.install;
  const chosen = setupCommand === undefined ? install : setupCommand.trim() === "" ? null : setupCommand;
  return {
    tools,
    setupCommand: chosen,
    reporters: {
      nodeTest: !choosesNodeReporter(testCommand) && !choosesNodeReporter(manifest),
      bun: expectsBun(`${testCommand}\n${manifest}`, names),
    },
  };
}

/** Text of `package.json`, empty where it is no plain file of a common size. */
async function readManifest(folder: HostFolder): Promise<string> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  try {
    await using file = await open(folder.at("package.json"), flags);
    const bytes = (await file.stat()).isFile() ? await readBounded(file, maxManifestBytes) : null;
    return bytes === null ? "" : Buffer.from(bytes).toString("utf8");
  } catch {
    // Gone, a link, or not readable: it says nothing about the tests.
    return "";
  }
}
