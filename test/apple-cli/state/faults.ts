import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What can go wrong. */
export type FaultKind =
  /** Only `system` calls reach the daemon; `system start` repairs it. */
  | "daemon-down"
  /** As above, but `system start` fails too. */
  | "daemon-broken"
  /** The command prints nothing and never ends; only KILL has an effect. */
  | "hang"
  /** The work has begun or is done, and the connection to the daemon breaks before the answer. */
  | "interrupted"
  /** Containers have an address, but nothing gets through; `system stop` and `system start` repair it. */
  | "network-dead"
  /** The daemon does not answer within the command's own time limit. */
  | "late"
  /** Output ends too early. */
  | "truncated"
  /** Ports on this machine cannot be opened. */
  | "port-denied";

export interface Fault {
  readonly kind: FaultKind;
  /** Commands that it affects, such as `run` or `image pull`; default: all that it can affect. */
  readonly commands?: readonly string[];
  /** How many calls it affects; default: all until it is repaired. */
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

/** Switches a fault on, or the current one off. */
export function writeFault(folder: string, fault: Fault | undefined): void {
  rmSync(join(folder, claimFolder), { recursive: true, force: true });
  rmSync(join(folder, faultFile), { force: true });
  if (fault === undefined) return;
  mkdirSync(join(folder, claimFolder), { recursive: true });
  const whole = join(folder, `${faultFile}.new`);
  writeFileSync(whole, JSON.stringify(fault));
  renameSync(whole, join(folder, faultFile));
}

/** The fault that affects this call; it uses up one of a limited number. */
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

/** What `system start` repairs. */
export function mendByRestart(folder: string): void {
  const kind = readFault(folder)?.kind;
  if (kind === "daemon-down" || kind === "network-dead") writeFault(folder, undefined);
}

const stoppedFile = "stopped";

/** Whether `system stop` was called last. */
export function isStopped(folder: string): boolean {
  return existsSync(join(folder, stoppedFile));
}

export function setStopped(folder: string, stopped: boolean): void {
  if (stopped) writeFileSync(join(folder, stoppedFile), "");
  else rmSync(join(folder, stoppedFile), { force: true });
}
