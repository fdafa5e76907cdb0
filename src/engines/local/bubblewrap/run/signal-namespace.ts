import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { ProcessSignal } from "../../../engine.ts";
import type { SignalOutcome } from "../../launcher.ts";
import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import { hostPath, type HostTools } from "../namespaces/host-tools.ts";
import { childOf, parentOf } from "./process-family.ts";

export interface NamespaceSignal {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** The first process of the sandbox. */
  readonly first: number;
  /** Asked once the namespace is held: whether it is the right one. */
  readonly isStillOurs: () => boolean;
  /** Gives up and ends the sender. */
  readonly giveUp: AbortSignal;
}

/**
 * Sends a signal to a process of a process-id namespace, by its number there.
 * It is sent from inside: there, the kernel itself means every process of the namespace but the first by -1, and nothing
 * else.
 *
 * Where we are not root, the sender inside has the programs' own user, and they may stop it. Its parent outside then
 * stops as well, and would keep the namespace from ending by never reaping it: `giveUp` ends both.
 */
export async function signalNamespace(
  { tools, base, first, isStillOurs, giveUp }: NamespaceSignal,
  signal: ProcessSignal,
  number: number,
): Promise<SignalOutcome> {
  let namespace: number;
  try {
    namespace = openSync(`/proc/${first}/ns/pid`, "r");
  } catch {
    return "none";
  }
  try {
    if (giveUp.aborted) return "hindered";
    if (!isStillOurs()) return "none";
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
    const end = (): void => endSender(child);
    giveUp.addEventListener("abort", end, { once: true });
    // A sender that could not be started has reached no process.
    const [code] = (await once(child, "close").catch(() => [null])) as [number | null];
    giveUp.removeEventListener("abort", end);
    if (giveUp.aborted) return "hindered";
    return code === 0 ? "sent" : "none";
  } finally {
    closeSync(namespace);
  }
}

/** First the one inside: once its parent is gone it cannot be found. */
function endSender(child: ChildProcess): void {
  const { pid } = child;
  const inside = pid === undefined ? null : childOf(pid);
  try {
    if (inside !== null && parentOf(inside) === pid) process.kill(inside, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
  child.kill("SIGKILL");
}
