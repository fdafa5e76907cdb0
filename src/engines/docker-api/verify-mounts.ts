import { constants, type BigIntStats } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { parseMountTable, type MountEntry } from "../../base/mount-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { MountIdentity, MountSpec } from "../container-spec.ts";

/**
 * `unseen`: the mounts cannot be inspected from here, as with those of another kernel or of a container without
 * processes.
 */
export type MountFinding = "same" | "other" | "unseen";

export interface MountedContainer {
  readonly id: string;
  /** Number of its first process, on the machine of the engine, which may be another. */
  readonly processId: number;
  readonly mounts: readonly Pick<MountSpec, "target" | "identity">[];
}

/** Linux: opens a place without reading it. */
const openPathOnly = 0o10_000_000;

/**
 * Compares what is mounted in a container with what had to be: a mount itself cannot be exchanged any more, as the name
 * could that it was made from (SPEC MO2). Nothing that is looked at here can be changed by programs inside.
 */
export async function verifyMounts({ id, processId, mounts }: MountedContainer): Promise<MountFinding> {
  const expected = mounts.flatMap(({ target, identity }) => (identity === undefined ? [] : [{ target, identity }]));
  if (expected.length === 0) return "same";
  if (processId <= 0) return "unseen";
  // Held open, so that the number cannot come to mean another process.
  await using process = await open(`/proc/${processId}`, openPathOnly | constants.O_DIRECTORY).catch(() => null);
  if (process === null) return "unseen";
  const folder = `/proc/self/fd/${process.fd}`;
  const table = parseMountTable(await readFile(`${folder}/mountinfo`, "latin1").catch(() => ""));
  // Engines mount files from a folder that is named by the container's id: a process without is another machine's.
  if (!table.some(({ root }) => root.split("/").includes(id))) return "unseen";
  for (const { target, identity } of expected) {
    if (identity.place === null) return "unseen";
    const isSame = isMounted(table, target, identity) && (await isFound(`${folder}/root`, target, identity));
    if (!isSame) return "other";
  }
  return "same";
}

/** Ends the container: it may have been started with a folder that nobody allowed. */
export function mountExchanged({ mounts = [] }: { readonly mounts?: readonly MountSpec[] | undefined }): GloveboxError {
  const targets = mounts.filter(({ identity }) => identity !== undefined).map(({ target }) => target);
  return new GloveboxError(
    "POLICY_DENIED",
    `What was mounted at ${targets.join(" and ")} is not the folder that was checked: its path changed before the engine used it. The container was removed before any command ran in it.`,
    {
      suggestion:
        "Do not move the folder or its parents while a sandbox starts. A program in another sandbox may be swapping them: destroy the one whose project contains this folder. If the image has a link at that path, nothing can be mounted there.",
      context: { rule: "changed", targets },
    },
  );
}

/** From the mount table, which everybody may read. */
function isMounted(table: readonly MountEntry[], target: string, { place }: MountIdentity): boolean {
  const mounted = table.findLast(({ mountPoint }) => mountPoint === target);
  return mounted !== undefined && mounted.device === place?.device && mounted.root === place.root;
}

/** By device and inode, where we may look: as root, or as the user of the process. */
async function isFound(root: string, target: string, { device, inode }: MountIdentity): Promise<boolean> {
  try {
    const found = await statBelow(root, target.split("/").filter(Boolean));
    return found.dev === device && found.ino === inode;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" || code === "EPERM";
  }
}

/** Name by name and through no link: an absolute one would lead to places of this machine. */
async function statBelow(folder: string, [name, ...deeper]: readonly string[]): Promise<BigIntStats> {
  const path = name === undefined ? folder : `${folder}/${name}`;
  await using handle = await open(path, openPathOnly | constants.O_NOFOLLOW);
  if (deeper.length === 0) return await handle.stat({ bigint: true });
  return await statBelow(`/proc/self/fd/${handle.fd}`, deeper);
}
