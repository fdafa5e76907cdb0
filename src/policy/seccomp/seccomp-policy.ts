import { allowedSyscalls } from "./allowed-syscalls.ts";
import { conditionalSyscalls } from "./conditional-syscalls.ts";
import { setuidSyscalls } from "./setuid-syscalls.ts";
import type { SyscallRule } from "./syscall-rule.ts";

/**
 * Refused as an older kernel, or one without the feature, would. `clone3` hides its flags behind a pointer, where no
 * filter sees them, and libc then uses `clone`; the mount queries and `cachestat` have older ways that programs fall back
 * to. Contexts of asynchronous I/O are counted for the whole machine (fs.aio-max-nr, 65,536 by default) and for nobody;
 * databases then use threads.
 */
const unimplemented: readonly string[] = [
  ...["clone3", "statmount", "listmount", "cachestat"],
  ...["io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents"],
];

export interface SeccompOptions {
  /** Whether programs may set the setuid bit of files: installers must, and nothing of the host may be writable then. */
  readonly setuidBits: boolean;
}

/** The rule of each call that is not simply refused, which is with EPERM. */
export function seccompPolicy({ setuidBits }: SeccompOptions): ReadonlyMap<string, SyscallRule> {
  const rules = new Map<string, SyscallRule>();
  for (const names of Object.values(allowedSyscalls)) {
    for (const name of names.trim().split(/\s+/)) rules.set(name, "allow");
  }
  for (const [name, choice] of Object.entries(conditionalSyscalls)) rules.set(name, choice);
  for (const [name, rule] of Object.entries(setuidBits ? {} : setuidSyscalls)) rules.set(name, rule);
  for (const name of unimplemented) rules.set(name, "ENOSYS");
  return rules;
}
