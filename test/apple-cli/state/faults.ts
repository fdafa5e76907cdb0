import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What can be wrong. */
export type FaultKind =
  /** No call but `system` reaches the daemon; `system start` mends it. */
  | "daemon-down"
  /** As above, and `system start` fails too. */
  | "daemon-broken"
  /** Nothing is said and nothing ends; of signals only KILL is heard. */
  | "hang"
  /** The work is begun or done, and the connection to the daemon breaks before the answer. */
  | "interrupted"
  /** Containers have an address, and nothing goes through; `system stop` and `system start` mend it. */
  | "network-dead"
  /** The daemon does not answer within the command's own time for it. */
  | "late"
  /** Output ends too early. */
  | "truncated"
  /** Ports of this machine cannot be opened. */
  | "port-denied";

export interface Fault {
  readonly kind: FaultKind;
  /** Commands that it befalls, such as `run` or `image pull`; default: all that can have it. */
  readonly commands?: readonly string[];
  /** How many calls it befalls; default: all until it is mended. */
  readonly times?: number;
}

const faultFile = "fault.json";
const claimFolder = "claims";

function readFault(folder: string): Fault | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, faultFile), "utf8")) as Fault;
  } catch {
    return undefined;
  }
}

/** Puts a fault in place, or takes the present one away. */
export function writeFault(folder: string, fault: Fault | undefined): void {
  rmSync(join(folder, claimFolder), { recursive: true, force: true });
  rmSync(join(folder, faultFile), { force: true });
  if (fault === undefined) return;
  mkdirSync(join(folder, claimFolder), { recursive: true });
  const whole = join(folder, `${faultFile}.new`);
  writeFileSync(whole, JSON.stringify(fault));
  renameSync(whole, join(folder, faultFile));
}

/** The fault that befalls this call; one that is limited in number is used up by it. */
export function claimFault(folder: string, command: string): FaultKind | undefined {
  const fault = readFault(folder);
  if (fault === undefined || fault.commands?.includes(command) === false) return undefined;
  if (fault.times === undefined) return fault.kind;
  for (let number = 0; number < fault.times; number += 1) {
    if (claim(join(folder, claimFolder, String(number)))) return fault.kind;
  }
  return undefined;
}

function claim(path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch {
    return false;
  }
}

/** What `system start` mends. */
export function mendByRestart(folder: string): void {
  const kind = readFault(folder)?.kind;
  if (kind === "daemon-down" || kind === "network-dead") writeFault(folder, undefined);
}

const stoppedFile = "stopped";

/** Whether `system stop` was the last word. */
export function isStopped(folder: string): boolean {
  return existsSync(join(folder, stoppedFile));
}

export function setStopped(folder: string, stopped: boolean): void {
  if (stopped) writeFileSync(join(folder, stoppedFile), "");
  else rmSync(join(folder, stoppedFile), { force: true });
}
