import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { ProcessSignal } from "../engine.ts";
import type { BaseNamespace } from "./base-namespace.ts";
import { hostPath, type HostTools } from "./host-tools.ts";

export interface NamespaceSignal {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** The first process of the sandbox. */
  readonly first: number;
  /** Asked once the namespace is held: whether it is the right one. */
  readonly isStillOurs: () => boolean;
}

/**
 * Sends a signal to a process of a process-id namespace, by its number there; false when there was none.
 * It is sent from inside: there, the kernel itself means every process of the namespace but the first by -1, and nothing
 * else.
 */
export async function signalNamespace(
  { tools, base, first, isStillOurs }: NamespaceSignal,
  signal: ProcessSignal,
  number: number,
): Promise<boolean> {
  let namespace: number;
  try {
    namespace = openSync(`/proc/${first}/ns/pid`, "r");
  } catch {
    return false;
  }
  try {
    if (!isStillOurs()) return false;
    const { userDescriptor } = base;
    const user = userDescriptor === null ? [] : ["--user=/proc/self/fd/4", "--preserve-credentials"];
    const args = [
      "--pid=/proc/self/fd/3",
      ...user,
      "--",
      "/bin/sh",
      "-c",
      `kill -s ${signal.slice("SIG".length)} -- ${number}`,
    ];
    const child = spawn(tools.nsenter, args, {
      cwd: "/",
      env: { PATH: hostPath },
      stdio: ["ignore", "ignore", "ignore", namespace, userDescriptor ?? namespace],
    });
    const [code] = (await once(child, "close")) as [number | null];
    return code === 0;
  } finally {
    closeSync(namespace);
  }
}
