import { lstat, realpath } from "node:fs/promises";
import path, { posix } from "node:path";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import type { EngineName } from "../engine.ts";

/** Where a mount would hide or change what every container has. */
const reserved = ["/dev", "/etc", "/proc", "/sys"];

type CheckedSpec = Pick<ContainerSpec, "mounts" | "scratch" | "command" | "rootCapabilities">;

export interface MountCircumstances {
  readonly engine: EngineName;
  readonly capabilities: Pick<Capabilities, "hostPaths">;
}

/**
 * Checks the mounts of a spec, before any engine sees them: some engines make a folder for a source that is missing.
 * @throws UNSUPPORTED for an engine that cannot have files of this machine, unless they never change, INVALID_REQUEST for a target that cannot be,
 * NOT_FOUND for a source that is missing, PERMISSION_DENIED for one that is not the real path
 */
export async function checkMounts(
  { mounts = [], scratch, command, rootCapabilities }: CheckedSpec,
  { engine, capabilities }: MountCircumstances,
): Promise<void> {
  if (mounts.length === 0) return;
  if (!capabilities.hostPaths && !mounts.every(mayBeCopied)) throw noHostPaths(engine);
  const taken = new Set(scratch.map((place) => place.path));
  for (const mount of mounts) {
    checkTarget(mount, taken);
    if (mayBeCopied(mount)) checkApart(mount, taken);
    taken.add(mount.target);
    if (rootCapabilities !== undefined && !mount.readOnly) {
      // Installers may make setuid files, which would be the host's.
      throw invalidField("mounts.readOnly", "true where root has capabilities", "false");
    }
    if (mount.identity !== undefined && command !== undefined) {
      // It would run before its mounts can be inspected.
      throw invalidField("mounts.identity", "a container without a command of its own", "one with a command");
    }
    await checkSource(mount);
  }
}

function checkTarget({ target }: MountSpec, taken: ReadonlySet<string>): void {
  const isPlain = target.startsWith("/") && target !== "/" && posix.normalize(target) === target;
  const isReserved = reserved.some((place) => target === place || target.startsWith(`${place}/`));
  if (isPlain && !target.endsWith("/") && !target.includes("\0") && !isReserved && !taken.has(target)) return;
  throw invalidField("mounts.target", "an absolute path of its own outside the system's own folders", target);
}

function mayBeCopied({ unchanging, readOnly }: MountSpec): boolean {
  return unchanging === true && readOnly;
}

/** In a folder that programs may write to, a copy could be changed. */
function checkApart({ target }: MountSpec, taken: ReadonlySet<string>): void {
  if (![...taken].some((place) => target.startsWith(`${place}/`))) return;
  throw invalidField("mounts.target", "an absolute path outside all writable folders", target);
}

/** The path itself is not shown: it is the host's. */
async function checkSource({ source, target }: MountSpec): Promise<void> {
  const context = { target };
  if (!path.isAbsolute(source) || source.includes("\0")) {
    throw new GloveboxError("INVALID_REQUEST", `What is to be mounted at ${target} is no absolute path.`, { context });
  }
  let real: string;
  try {
    real = await realpath(source);
  } catch (cause) {
    throw new GloveboxError("NOT_FOUND", `What is to be mounted at ${target} does not exist.`, { context, cause });
  }
  const kind = await lstat(real);
  if (real === source && (kind.isDirectory() || kind.isFile())) return;
  throw new GloveboxError(
    "PERMISSION_DENIED",
    `What is to be mounted at ${target} is neither a file nor a folder, or is reached by a symbolic link.`,
    { suggestion: "Name the real path of a file or folder.", context },
  );
}

function noHostPaths(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot give a sandbox files of this machine here.`, {
    suggestion: "Use an engine that runs on this machine with containers or namespaces (`glovebox doctor` lists them).",
    context: { engine, missing: "hostPaths" },
  });
}
