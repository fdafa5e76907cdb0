import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineName } from "../engine.ts";

/** What separates a program from the host's kernel: only namespaces, a kernel in user space, or a VM. */
export type RuntimeKind = "namespaces" | "gvisor" | "vm";

/** An engine's description of one of its OCI runtimes, as far as it is read. */
export interface RuntimeAnswer {
  /** Its program. */
  readonly path?: string;
  /** Or containerd's name of it, such as `io.containerd.runsc.v1`. */
  readonly runtimeType?: string;
}

/** The kind of a runtime, by its name or by what the engine says is behind that name. */
export function runtimeKind(name: string, { path = "", runtimeType = "" }: RuntimeAnswer = {}): RuntimeKind {
  const words = [name, path.split("/").at(-1) ?? "", runtimeType.replace(/^io\.containerd\./, "")];
  if (words.some((word) => /^(?:runsc|gvisor)(?:\W|$)/.test(word))) return "gvisor";
  if (words.some((word) => /^(?:kata|krun)(?:\W|$)/.test(word))) return "vm";
  return "namespaces";
}

/** The engine that is asked for a runtime, as its `Dialect` tells of it. */
interface RuntimeOwner {
  readonly name: EngineName;
  readonly title: string;
  readonly howToAddRuntime: string;
}

/** The refusal of a runtime that the engine does not have, or would silently replace with another. */
export function noSuchRuntimeError(
  { name: engine, title, howToAddRuntime }: RuntimeOwner,
  name: string,
  available: readonly string[],
): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${title} cannot run a container with the OCI runtime "${name}".`, {
    suggestion: `Choose one of ${available.join(", ")}, or leave it out. ${howToAddRuntime}`,
    context: { field: "oci_runtime", engine, available },
  });
}

/** Folders that a runtime would make writable by itself, without a size limit, where nothing is mounted. */
export const ownFolders: Readonly<Record<RuntimeKind, readonly string[]>> = {
  namespaces: [],
  gvisor: ["/tmp"],
  vm: [],
};

/**
 * Processes that gVisor allows each user inside: a program that the supervisor starts is counted for the supervisor, whose child it
 * was, and not for its own user.
 */
export function processesOfUser(pids: number): number {
  return Math.max(1, pids - 1);
}

/** The supervisor, the helper that waits for a file operation, and the warden of one program; others' wardens are theirs. */
const ownProcesses = 3;

/**
 * Threads of the host's that a container with a limit of `pids` may take. gVisor was seen to take 38 for itself and 5
 * for each process inside (2022, ptrace); short of them its kernel falls, so this is no more than a fence.
 */
export function hostProcesses(pids: number, runtimeKind: RuntimeKind): number {
  return runtimeKind === "gvisor" ? 512 + 16 * pids : pids + ownProcesses;
}
