import { CommandError } from "../output/command-error.ts";
import { isAtLeast } from "../parser/version.ts";

const byDefault =
  "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE".split(
    " ",
  );

const others = (
  "AUDIT_CONTROL AUDIT_READ BLOCK_SUSPEND BPF CHECKPOINT_RESTORE DAC_READ_SEARCH IPC_LOCK IPC_OWNER LEASE LINUX_IMMUTABLE " +
  "MAC_ADMIN MAC_OVERRIDE NET_ADMIN NET_BROADCAST PERFMON SYSLOG SYS_ADMIN SYS_BOOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE " +
  "SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM"
).split(" ");

/** A name as Apple keeps it, or ALL. */
export function readCapability(text: string): string {
  const name = text.toUpperCase().replace(/^CAP_/, "");
  if (name === "ALL" || byDefault.includes(name) || others.includes(name)) return name === "ALL" ? name : `CAP_${name}`;
  throw new CommandError("invalidArgument", `invalid capability: ${text}`);
}

/** The set that a container's programs have: `ALL` dropped first, then what is added, then single drops. */
export function capabilitySet(version: string, add: readonly string[], drop: readonly string[]): readonly string[] {
  if (!isAtLeast(version, "0.12.0")) return ["ALL"];
  const set = new Set(drop.includes("ALL") ? [] : byDefault);
  const all = add.includes("ALL");
  for (const name of all ? [...byDefault, ...others] : add) set.add(name.replace("CAP_", ""));
  for (const name of drop) set.delete(name.replace("CAP_", ""));
  return [...set];
}
