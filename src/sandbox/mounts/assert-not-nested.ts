import type { CallOptions, Engine } from "../../engines/engine.ts";
import { labels as names, managed } from "../../engines/labels.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { isWithin } from "../../policy/mounts/mount-policy.ts";
import type { Sandboxes } from "../sandboxes.ts";
import { labelledWritablePaths } from "../sandbox-plan.ts";

export interface NestingQuestion extends CallOptions {
  readonly engine: Engine;
  readonly sandboxes: Pick<Sandboxes, "live">;
  /** Id of a sandbox that has this mount and others around it, which are not counted. Default: none. */
  readonly except?: string | undefined;
  /** Real path of a folder that has just been mounted. */
  readonly source: string;
}

/**
 * Refuses a folder inside one that programs of another sandbox may write to: they could swap the folders on the path.
 * For mounts that cannot be verified (SPEC MO2). Called when the mount is made: a writer that starts later is too late.
 * Knows the sandboxes of this server, and those of all servers on the same engine.
 * @throws POLICY_DENIED; what the engine throws
 */
export async function assertNotNested({ engine, sandboxes, source, except, signal }: NestingQuestion): Promise<void> {
  const all = await engine.list(managed, { signal });
  const listed = all.filter(({ labels }) => except === undefined || labels[names.sandbox] !== except);
  const live = sandboxes.live.filter(({ id }) => id !== except);
  const writable = [
    ...listed.flatMap(({ labels }) => labelledWritablePaths(labels)),
    ...live.flatMap((sandbox) => sandbox.writablePaths),
  ];
  if (!isNested(source, writable)) return;
  throw new GloveboxError(
    "POLICY_DENIED",
    "project_root: It lies inside a folder that another live sandbox may write to, and what is mounted here cannot be verified: a program there could exchange it for another folder.",
    {
      suggestion:
        "Destroy the other sandbox first, give both the same project_root, or use an engine that runs on this machine's own kernel and not on another one, as some OCI runtimes and virtual machines do.",
      context: { field: "project_root", rule: "nested-root", engine: engine.name },
    },
  );
}

/** Whether a path lies below one of the folders; a folder itself does not. */
export function isNested(given: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(given, folder) && !isWithin(folder, given));
}
