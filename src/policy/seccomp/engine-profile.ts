import { newNamespaceFlags } from "./conditional-syscalls.ts";
import { errnoNumbers } from "./errno-numbers.ts";
import { architectures, type OciSeccompProfile } from "./oci-profile.ts";

/**
 * Calls that reach furthest into the kernel or into other processes, and that neither programs nor the supervisor need.
 * All of them are refused by the policy, too.
 */
const refused = {
  "other processes": "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp",
  mounts: `mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_by_handle_at
    name_to_handle_at quotactl quotactl_fd swapon swapoff`,
  namespaces: "unshare setns",
  keys: "add_key request_key keyctl",
  "code in the kernel": `bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register init_module
    finit_module delete_module kexec_load kexec_file_load`,
  "the machine":
    "clock_settime clock_adjtime settimeofday adjtimex reboot acct syslog fanotify_init iopl ioperm modify_ldt",
} as const;

/** Each bit of a set. */
function bitsOf(mask: number): readonly number[] {
  return Array.from({ length: 32 }, (_, index) => 2 ** index).filter((bit) => (mask & bit) !== 0);
}

/**
 * The profile for the `seccomp=` security option of an engine, in place of the engine's own: JSON text for Docker, a file for
 * Podman. It is the second wall: the whole policy is in the filter that the supervisor installs in each program.
 *
 * Short, since each rule costs time when a container starts: with the policy's some 350 names a start took 30 to 60 ms longer
 * (runc 1.1 with libseccomp 2.5, of some 350 ms). 32-bit conventions are listed because an engine kills whoever uses one that is not.
 */
export function engineSeccompProfile(): OciSeccompProfile {
  const names = Object.values(refused).flatMap((text) => text.trim().split(/\s+/));
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    archMap: architectures,
    syscalls: [
      { names, action: "SCMP_ACT_ERRNO", errnoRet: errnoNumbers.EPERM, args: [] },
      // Its flags are behind a pointer; libc then uses `clone`.
      { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: errnoNumbers.ENOSYS, args: [] },
      ...bitsOf(newNamespaceFlags).map((bit) => ({
        names: ["clone"],
        action: "SCMP_ACT_ERRNO" as const,
        errnoRet: errnoNumbers.EPERM,
        args: [{ index: 0, op: "SCMP_CMP_MASKED_EQ" as const, value: bit, valueTwo: bit }],
      })),
    ],
  };
}
