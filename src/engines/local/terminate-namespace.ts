import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { BaseNamespace } from "./base-namespace.ts";
import { hostPath, type HostTools } from "./host-tools.ts";

export interface TerminateOptions {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** The first process of the sandbox. */
  readonly first: number;
  /** Asked once the namespace is held: whether it is the right one. */
  readonly isStillOurs: () => boolean;
}

/**
 * Sends SIGTERM to all processes of a process-id namespace except the first; false when there were none.
 * It is sent from inside: there, the kernel itself means every process of the namespace by -1, and nothing else.
 */
export async function terminateNamespace({ tools, base, first, isStillOurs }: TerminateOptions): Promise<boolean> {
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
    const args = ["--pid=/proc/self/fd/3", ...user, "--", "/bin/sh", "-c", "kill -s TERM -- -1"];
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
