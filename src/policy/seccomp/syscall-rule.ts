/** What a refused call returns; the numbers are Linux's own, the same on every architecture here. */
export type SyscallErrno = "EPERM" | "EINVAL" | "ENOSYS" | "EPROTONOSUPPORT";

/** Decides by one argument, as the kernel sees it where that argument is an `int`: its low 32 bits, the rest ignored. */
export interface ArgumentChoice {
  /** Position, from 0. A nested choice looks at another argument. */
  readonly argument: number;
  /** Bits that are compared; default all 32. */
  readonly mask?: number;
  /** Values after masking; a value appears once in a choice. */
  readonly cases: readonly { readonly values: readonly number[]; readonly rule: SyscallRule }[];
  readonly otherwise: SyscallRule;
}

/** Run it, refuse it with an errno, or look at an argument. */
export type SyscallRule = "allow" | SyscallErrno | ArgumentChoice;
