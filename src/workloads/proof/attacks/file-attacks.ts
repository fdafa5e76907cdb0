import { attacksOf, open, type Attack } from "./attack.ts";

const sameKernel = open("it is the same kernel; the number reveals nothing else");

const overlay = open("the mount table names the folders that make up a root, which nothing inside can open");

/** The host's files, and the kernel's own under /proc and /sys. */
export const fileAttacks: readonly Attack[] = attacksOf({
  group: "Files, /proc and /sys",
  control: "unsealed",
  attacks: {
    "reads-file-of-the-host": "read a file of the host",
    "reads-passwords-of-the-host": "read a password file",
    "connects-to-engine-socket": "connect to an engine's socket",
    "connects-to-peer-socket": "connect to the socket by which Glovebox's own processes reach each other",
    "writes-into-root": "write into the root folder",
    "changes-system-programs": "change the system's programs",
    "changes-users": "change the list of users",
    "plants-library": "plant a library that every program loads",
    "changes-engine-files": "change the files that engines keep on the host (/etc/hosts)",
    "finds-host-folders-in-mounts": "learn the names of the host's folders from its mounts",
    "learns-engine-folder": "learn where the engine keeps its images on the host",
    "learns-host-name": "learn the host's name",
    "learns-resolvers-of-the-host": "learn the addresses of the host's name servers",
    "learns-boot-number": "tell by the kernel's boot number that two sandboxes share a machine",
    "reads-kernel-memory": "read the kernel's memory (/proc/kcore)",
    "reads-memory-device": "read the machine's memory (/dev/mem)",
    "reads-kernel-log-device": "read the kernel's log (/dev/kmsg)",
    "triggers-system-request": "restart the machine (/proc/sysrq-trigger)",
    "sets-core-handler": "set the program that the host runs at a crash (core_pattern)",
    "sets-module-loader": "set the program that the host loads modules by (modprobe)",
    "sets-release-agent": "set the program that the host runs when a control group empties",
    "changes-kernel-settings": "change the kernel's settings (/proc/sys)",
    "reads-kernel-symbols": "learn where the kernel lies (/proc/kallsyms)",
    "reads-keys-of-all": "list all users' keys (/proc/keys)",
    "reads-timers-of-the-host": "read the processors' timers (/proc/timer_list)",
    "reads-interrupts-of-the-host": "count interrupts, as of keys pressed (/proc/interrupts)",
    "lists-firmware": "list the firmware's tables (/sys/firmware)",
    "writes-to-sys": "change devices and modules (/sys)",
    "raises-own-limits": "raise its own limits in its control group",
  },
  unshown: {
    "reads-kernel-memory": "the test machine has no such file",
    "reads-memory-device": "the test machine has no such device",
    "triggers-system-request": "the test machine has no such file",
    "sets-module-loader": "the test machine's kernel loads no modules",
  },
  deniedByOf: {
    "writes-into-root": "readOnlyRoot",
    "changes-system-programs": "readOnlyRoot",
    "changes-users": "readOnlyRoot",
    "plants-library": "readOnlyRoot",
  },
  exceptions: {
    "learns-engine-folder": { docker: overlay, podman: overlay, kubernetes: overlay },
    "learns-resolvers-of-the-host": { podman: open("Podman copies the host's /etc/resolv.conf") },
    "learns-boot-number": { docker: sameKernel, podman: sameKernel, local: sameKernel, kubernetes: sameKernel },
  },
});
