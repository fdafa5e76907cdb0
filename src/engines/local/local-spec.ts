import { normalize } from "node:path/posix";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { helperUser, programUser } from "../../policy/profile.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { ExecSpec, CallOptions, ImageStore } from "../engine.ts";
import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { throwIfCancelled } from "../../base/abort.ts";

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

/** The host's interpreters, by their paths; null for what the host has not. */
type FindInterpreters = (options: CallOptions) => Promise<readonly (string | null | undefined)[]>;

/** Images of an engine that has none: whatever the name, the only one is the host's own system. */
export function noImages(findInterpreters: FindInterpreters): ImageStore {
  return {
    has: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      return true;
    },
    identity: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      const paths = (await findInterpreters({ signal })).filter((path) => typeof path === "string");
      const facts = await Promise.all(paths.map(factsOf));
      const digest = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
      return `host:${digest}`;
    },
    pull: (reference) => Promise.reject(runsNoImages(`${reference} cannot be pulled`)),
    build: ({ reference }) => Promise.reject(runsNoImages(`${reference} cannot be built`)),
    remove: (reference) => Promise.reject(runsNoImages(`${reference} cannot be removed`)),
    list: async (_labels, { signal } = {}) => {
      throwIfCancelled(signal);
      return [];
    },
    labels: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      return {};
    },
  };
}

/** `what` says what cannot be done for it. */
export function runsNoImages(what: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine local runs no images, so ${what}.`, {
    suggestion: "Use Docker or Podman to run an image; on engine local programs run on the host's own system.",
    context: { engine: "local", missing: "images" },
  });
}

/** The error of work whose sandbox disappeared without our doing. */
export function lostError(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The sandbox on engine local is gone, or could not be set up.", { cause });
}

/** The error for a second container of the same name. */
export function nameTaken(name: string): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", `A container named ${name} exists on engine local.`, {
    context: { name },
  });
}

/** The error of a second `attach`. */
export function attachedAlready(): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", "The container's main process is attached to already.");
}

/** The error of `attach` where programs come by `exec` only. */
export function nothingToAttachTo(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The container has no command of its own to attach to.", {
    suggestion: "Run a program in it instead.",
  });
}

/** The error of a connection to a port where programs have no network, loopback included. */
export function noConnections(isolation: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `At isolation ${isolation} programs have no network, so none can listen.`, {
    suggestion: "Choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { missing: "execNetwork", isolation },
  });
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

/** Other ones when the host's operator exchanges the interpreter. */
async function factsOf(path: string): Promise<readonly (string | number)[]> {
  try {
    const real = await realpath(path);
    const { size, mtimeMs, uid } = await stat(real);
    return [real, size, mtimeMs, uid];
  } catch {
    // It disappeared meanwhile, and programs will be told.
    return [path];
  }
}
