import { normalize } from "node:path/posix";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { helperUser, programUser } from "../../policy/profile.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { ExecSpec } from "../engine.ts";

/** User and group inside. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

const mebibyte = 1024 * 1024;
const defaultSharedMemoryBytes = 64 * mebibyte;

/** Paths where scratch or a mount would hide or change what every sandbox has. */
const reserved = [
  "/bin",
  "/dev",
  "/etc",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt/glovebox",
  "/proc",
  "/sbin",
  "/sys",
  "/usr",
];

/** Checks what the type cannot say. @throws INVALID_REQUEST naming the field */
export function checkContainerSpec(spec: ContainerSpec): void {
  if (!/^[a-z0-9][a-z0-9-]{0,127}$/.test(spec.name))
    throw invalidField("name", "a-z, 0-9 and -, at most 128", spec.name);
  for (const { path } of spec.scratch) checkPlace(path, "scratch.path");
  for (const { target, identity } of spec.mounts ?? []) {
    checkPlace(target, "mounts.target");
    if (identity !== undefined) throw noIdentity();
  }
  if (spec.writableRoot !== undefined) throw noWritableRoot();
  checkEnvironment(spec.environment);
  if (spec.command !== undefined) checkCommand(spec.command);
}

/** Its mounts are of folders that no sandbox can write to. */
function noIdentity(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "Engine local does not compare what is mounted with what was checked.", {
    suggestion: "Use an engine with containers.",
    context: { engine: "local", missing: "images", field: "mounts.identity" },
  });
}

/** The root is this machine's own. */
function noWritableRoot(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "Engine local has no root that can be written.", {
    suggestion: "Write to scratch, or use an engine with containers.",
    context: { engine: "local", missing: "diskLimit" },
  });
}

/**
 * `hasHelpers`: whether helpers of ours have a user of their own.
 * @throws INVALID_REQUEST naming the field; UNSUPPORTED for a user that is not the container's
 */
export function checkExecSpec(spec: ExecSpec, container: ContainerSpec, hasHelpers = false): void {
  checkCommand(spec.command);
  checkEnvironment(spec.environment);
  const own = container.processUser ?? programUser;
  if (hasHelpers && spec.user === helperUser) return;
  if (spec.user !== undefined && spec.user !== own) {
    throw new GloveboxError(
      "UNSUPPORTED",
      `Engine local runs every program of a container as ${own}, not as ${spec.user}.`,
      {
        suggestion: "Leave the user out, or use an engine with containers.",
        context: { engine: "local", missing: "execUser" },
      },
    );
  }
}

/** @throws INVALID_REQUEST for what is no `uid:gid`; UNSUPPORTED for root */
export function parseProcessUser(user: string = programUser): SandboxUser {
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(user) ?? [];
  if (uid === undefined || gid === undefined) throw invalidField("processUser", "uid:gid", user);
  if (Number(uid) === 0) {
    throw new GloveboxError("UNSUPPORTED", "Engine local runs no program as root.", {
      suggestion: "Name another user, or use an engine with containers.",
      context: { engine: "local", missing: "execUser" },
    });
  }
  return { uid: Number(uid), gid: Number(gid) };
}

/** Size of /dev/shm: what was asked, else 64 MiB or an eighth of the memory, the smaller. */
export function sharedMemoryBytes({ sharedMemoryBytes: asked, limits }: ContainerSpec): number {
  return asked ?? Math.min(defaultSharedMemoryBytes, Math.floor(limits.memoryBytes / 8));
}

function checkPlace(path: string, field: string): void {
  const isPlain = path.startsWith("/") && path !== "/" && normalize(path) === path && !path.endsWith("/");
  const isTaken = reserved.some((place) => path === place || path.startsWith(`${place}/`));
  if (!isPlain || isTaken) throw invalidField(field, "an absolute path outside the system's own folders", path);
}

function checkCommand(command: readonly string[]): void {
  if (command.length === 0) throw invalidField("command", "a program and its arguments", undefined);
  if (command.some((word) => word.includes("\0"))) throw invalidField("command", "words without NUL", "one with NUL");
}

function checkEnvironment(environment: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name === "" || /[=\0]/.test(name)) throw invalidField("environment", "names without = and NUL", name);
    if (value.includes("\0")) throw invalidField(`environment.${name}`, "a value without NUL", "one with NUL");
  }
}
