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
export interface RuntimeOwner {
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
