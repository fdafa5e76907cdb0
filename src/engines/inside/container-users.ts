import type { ContainerSpec } from "../container-spec.ts";

/** uid and gid of programs. */
const defaultProcessUser = "1000:1000";

/** The user that programs in a container of this spec run as. */
export function processUserOf({ processUser = defaultProcessUser }: ContainerSpec): string {
  return processUser;
}

/**
 * The user of the keeper: root without capabilities, which owns what it has to open to programs; where programs are root
 * themselves it is nobody, so that none of them can signal it or see its memory. Where root has capabilities it has to
 * be root: of a container that begins as another user Docker gives none to anybody.
 */
export function keeperUserOf(spec: ContainerSpec): string {
  if (spec.rootCapabilities !== undefined) return "0:0";
  return uidOf(processUserOf(spec)) === "0" ? "65534:65534" : "0:0";
}

/** User number of `uid:gid`. */
export function uidOf(user: string): string {
  return user.split(":")[0] ?? user;
}

/** Folders that the keeper opens to every user. */
export function openFoldersOf({ scratch, writableRoot }: ContainerSpec): readonly string[] {
  return [...scratch.map(({ path }) => path), ...(writableRoot?.folders ?? [])];
}
