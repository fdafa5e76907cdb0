import { invalidField } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { mountRefused } from "../../policy/mounts/mount-refused.ts";
import { judgeHostPath } from "../../sandbox/mounts/mount-gate.ts";
import type { Project } from "../../workloads/environment/environment-spec.ts";
import { openMountGate } from "../open-mount-gate.ts";

/** The folder of an environment, held open, and what the caller should know about it. */
export interface OpenProject {
  readonly project: Project;
  readonly notices: readonly string[];
}

/**
 * Opens the folder that a request names, through the mount gate (SPEC MO5).
 * @throws INVALID_REQUEST and POLICY_DENIED naming the field and the rule
 */
export async function openProject(
  platform: PlatformParts,
  given: string,
  { readOnly, field }: { readonly readOnly: boolean; readonly field: string },
): Promise<OpenProject> {
  if (given === "" || given.includes("\0")) throw invalidField(field, "the path of a folder", given);
  const { gate, notices } = await openMountGate(platform);
  const access = readOnly ? "read-only" : "read-write";
  const judged = await judgeHostPath(gate, { path: given, use: "project", access, isMain: false });
  const { verdict, place } = judged;
  if (place === null) throw mountRefused(verdict, field, given);
  if (place.kind !== "folder") {
    await place[Symbol.asyncDispose]();
    throw invalidField(field, "a folder", given);
  }
  const reduced = verdict.readOnly && !readOnly;
  return {
    project: { place, identity: await place.identify(), readOnly: verdict.readOnly },
    notices: [
      ...notices,
      ...(reduced ? [`${field}: read-only. ${verdict.explanation} ${verdict.whatWouldAllow ?? ""}`.trim()] : []),
    ],
  };
}
