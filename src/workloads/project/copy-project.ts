import type { CallOptions } from "../../engines/engine.ts";
import { workFolder } from "../../policy/scratch.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { readHostTree } from "../../sandbox/copy/read-host-tree.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { ignoringFilter, leftOutByName } from "./project-tree.ts";

/** Where a project's copy lies in its sandbox. */
export const copyFolder: string = `${workFolder}/project`;

/** Files, folders and links of a project. */
export const maxEntries = 100_000;

/** A project, and how much of it is copied. */
export interface ProjectSource {
  /** The project's folder on this machine, open; it is read and never written. */
  readonly project: Pick<OpenPlace, "stablePath">;
  /** Whether ignored files are copied too. */
  readonly includeIgnored: boolean;
  /** Of all files together. */
  readonly maxBytes: number;
}

/**
 * Copies a project into a sandbox, which nothing ever writes back; resolves to what was left out of it. Links stay links:
 * where they lead is inside the sandbox.
 * @throws POLICY_DENIED for more than fits, and what reading the project throws
 */
export async function copyProject(
  { project, includeIgnored, maxBytes }: ProjectSource,
  sandbox: Pick<Sandbox, "files">,
  { signal, platform }: CallOptions & { readonly platform: NodeJS.Platform },
): Promise<readonly string[]> {
  const budget = new CopyBudget({ maxBytes, maxEntries });
  await using folder = await HostFolder.of(project, platform);
  const unknown: string[] = [];
  const notes = {
    onLeftOut: (path: string) => budget.skip(path, leftOutByName),
    onUnknown: (sentence: string) => void unknown.push(sentence),
  };
  const filter = includeIgnored ? undefined : ignoringFilter(notes);
  await sandbox.files.writeTree(copyFolder, readHostTree(folder, budget, { filter }), { signal });
  return [...budget.warnings, ...unknown];
}
