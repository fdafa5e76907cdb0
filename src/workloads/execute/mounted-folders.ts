import type { Capabilities } from "../../engines/capabilities.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import { FolderGuard } from "../run/folders/guard-folders.ts";
import { mountSpecs, setuidWarnings, type FolderWords } from "../run/folders/host-mount.ts";
import type { Execution } from "./execution.ts";

/** Folders of this machine for one program, watched until this is disposed. */
export interface MountedFolders extends AsyncDisposable {
  readonly mounts: readonly MountSpec[];
  readonly guard: FolderGuard;
  /** Owner of the first of them, `uid:gid`, who then owns what programs write there. */
  readonly processUser: string;
  readonly warnings: readonly string[];
}

const words: FolderWords = { subject: "program", folders: "the mounted folders" };

/**
 * The folders of this machine that a program gets, null for none. @throws UNSUPPORTED if setuid bits cannot be
 * prevented
 */
export async function openFolders(
  { spec, dependencies }: Execution,
  capabilities: Capabilities,
): Promise<MountedFolders | null> {
  const [first] = spec.mounts;
  if (first === undefined) return null;
  const mounts = await mountSpecs(spec.mounts);
  const setuid = setuidWarnings(spec.mounts, { capabilities, engine: dependencies.engine.name, words });
  const { diskBytes } = spec.limits;
  const guard = await FolderGuard.open({ ...dependencies, mounts: spec.mounts, diskBytes, words });
  const { uid, gid } = first.place.owner;
  return {
    mounts,
    guard,
    processUser: `${uid}:${gid}`,
    warnings: [...setuid, ...(uid === 0 ? [rootWarning] : [])],
    [Symbol.asyncDispose]: () => guard[Symbol.asyncDispose](),
  };
}

const rootWarning =
  "the mounted folder belongs to root, so the program runs as root without any capability; give the folder to a user of its own for a stronger wall.";
