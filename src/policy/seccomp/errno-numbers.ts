import type { SyscallErrno } from "./syscall-rule.ts";

/** Linux's numbers: a filter may be made on a host whose own differ (`ENOSYS` is 78 on macOS). */
export const errnoNumbers: Readonly<Record<SyscallErrno, number>> = {
  EPERM: 1,
  EINVAL: 22,
  ENOSYS: 38,
  EPROTONOSUPPORT: 93,
};
