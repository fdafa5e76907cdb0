import { plainFile } from "./plain-file.ts";
import type { ArgumentChoice, SyscallRule } from "./syscall-rule.ts";

/** S_ISUID of a mode. */
const setuidBit = 0x800;

/** O_CREAT, and the bit of O_TMPFILE that is in nothing else: a call without them has no mode. */
const makingFlags = 0x40_0040;

const withoutSetuid = (argument: number): ArgumentChoice => ({
  argument,
  mask: setuidBit,
  cases: [{ values: [0], rule: "allow" }],
  otherwise: "EPERM",
});

/** The mode stands behind the flags. */
const opening = (flags: number): ArgumentChoice => ({
  argument: flags,
  mask: makingFlags,
  cases: [{ values: [0], rule: "allow" }],
  otherwise: withoutSetuid(flags + 1),
});

/**
 * Every call that can set a file's setuid bit, without that: on a file of a project such a bit would give all users of
 * the host the rights of the project's owner (SPEC MO2). The setgid bit is needed for shared folders, and chmod does not
 * tell what it is for. `mkdir` is missing because the kernel takes the bit out, extended attributes because those that
 * give rights ask for a capability.
 */
export const setuidSyscalls: Readonly<Record<string, SyscallRule>> = {
  chmod: withoutSetuid(1),
  fchmod: withoutSetuid(1),
  fchmodat: withoutSetuid(2),
  fchmodat2: withoutSetuid(2),
  creat: withoutSetuid(1),
  open: opening(1),
  openat: opening(2),
  /** Hides its mode behind a pointer; libc and others fall back to `openat`. */
  openat2: "ENOSYS",
  mknod: plainFile(1, setuidBit),
  mknodat: plainFile(2, setuidBit),
};
