import {
  attacksOf,
  open,
  contained,
  declaredPlaces,
  expectedAt,
  ownKernelPlace,
  type Attack,
  type DeclaredPlace,
  type Expectation,
} from "./attack.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { isWall } from "../../policy/isolation.ts";

const ownProcess = "gVisor shows it; it is Glovebox's own, which holds no secret";

/** Other processes, and what they reveal about the host. */
const processAttacks: readonly Attack[] = attacksOf({
  group: "Processes and variables",
  control: "unsealedAlone",
  attacks: {
    "signals-first-process": "end the sandbox's first process",
    "traces-first-process": "trace the first process",
    "reads-memory-of-first-process": "read the first process's memory",
    "reads-memory-map-of-first-process": "read its memory map",
    "reads-environment-of-first-process": "read its environment",
    "leaves-by-root-of-first-process": "leave by its root folder",
    "opens-files-of-first-process": "open its open files",
    "enters-namespace-of-first-process": "enter its mounts",
    "enters-network-of-first-process": "enter its network",
    "lists-processes-of-the-host": "find a process of the host",
    "finds-process-of-the-host-by-number": "find one by its number, unlisted",
    "reads-variables-of-the-host": "find a secret of Glovebox's own environment in any process",
    "inherits-variables-of-the-host": "find it among its own variables",
    "uses-inherited-descriptor": "leave by a folder that was left open",
    "connects-to-abstract-socket": "connect to an abstract socket of the host",
    "attaches-shared-memory-of-the-host": "attach shared memory of the host",
  },
  controls: {
    "lists-processes-of-the-host": "unsealed",
    "finds-process-of-the-host-by-number": "unsealed",
    "reads-variables-of-the-host": "unsealed",
    "inherits-variables-of-the-host": "hostProcess",
    "uses-inherited-descriptor": "hostProcess",
    "connects-to-abstract-socket": "unsealed",
    "attaches-shared-memory-of-the-host": "unsealed",
  },
  exceptions: {
    "reads-memory-map-of-first-process": { runsc: open(ownProcess) },
    "reads-environment-of-first-process": { runsc: open(ownProcess) },
  },
  whereShared: {
    "signals-first-process": contained("it belongs to the program's own user; if it ends, only its own sandbox does"),
  },
});

/** Users, capabilities and priorities. */
const privilegeAttacks: readonly Attack[] = attacksOf({
  group: "Privileges",
  deniedBy: "noNewPrivileges",
  control: "unsealed",
  attacks: {
    "becomes-root": "become root",
    "joins-groups": "join the groups root and disk",
    "runs-setuid-program": "become root by a setuid program",
    "takes-capabilities": "take CAP_SYS_ADMIN",
    "finds-capabilities-left": "find a capability left in any of its sets",
    "gives-file-away": "give a file to another user",
    "makes-file-privileged": "make a program that starts with a capability",
    "keeps-setuid-in-scratch": "use setuid programs and devices in its writable folders",
    "favours-itself": "favour itself before other processes",
    "takes-real-time-priority": "take real-time priority",
    "locks-memory": "lock much memory",
  },
  controls: { "runs-setuid-program": "ordinaryUser", "takes-real-time-priority": "hostProcess" },
  deniedByOf: { "keeps-setuid-in-scratch": "setuidRefusal", "locks-memory": "memoryLimit" },
  exceptions: {
    "keeps-setuid-in-scratch": {
      runsc: contained("gVisor does not show such options; it starts no setuid programs"),
      kubernetes: open("pods mount such folders without these options; no-new-privileges and the filter deny the rest"),
    },
    "favours-itself": { runsc: contained("only among the programs of its own sandbox") },
  },
});

const ownKernel = { runsc: contained("gVisor's own kernel does it, only for its sandbox") };
const ownRing = { runsc: contained("gVisor's own kernel serves the ring") };
const uncounted = open("the kernel counts locks for nobody, and SQLite and others need them");
const notBuilt = "the test machine's kernel is built without it";

/** System calls by which containers and filters can be left. */
const kernelAttacks: readonly Attack[] = attacksOf({
  group: "Calls to the kernel",
  deniedBy: "seccomp",
  control: "unsealed",
  attacks: {
    "opens-io-uring": "open an io_uring, whose operations no filter sees",
    "makes-bpf-map": "make a BPF map",
    "loads-bpf-program": "load a BPF program into the kernel",
    "watches-performance-events": "watch performance events",
    "handles-page-faults": "handle page faults (userfaultfd), which holds kernel code up",
    "adds-key": "add a key to the kernel's keyrings",
    "reads-keyrings": "reach the session's keyring",
    "traces-child": "trace another process",
    "reads-memory-of-child": "read another process's memory by process_vm_readv",
    "advises-on-memory-of-child": "act on another process's memory by process_madvise",
    "takes-descriptor-of-child": "take an open file out of another process (pidfd_getfd)",
    "compares-kernel-objects": "learn the order of kernel objects (kcmp)",
    "unshares-user-namespace": "make a user namespace, with all capabilities in it",
    "clones-user-namespace": "make one by clone",
    "clones-user-namespace-by-clone3": "make one by clone3, its flags behind a pointer",
    "unshares-mounts": "make a mount namespace",
    "unshares-network": "make a network namespace",
    "unshares-through-the-32-bit-gate": "make a namespace by a 32-bit call, which has another number",
    "unshares-by-x32-number": "make a namespace by an x32 call",
    "mounts-tmpfs": "mount something",
    "mounts-proc": "mount a /proc without covers",
    "mounts-control-groups": "mount the control groups, where release_agent is",
    "opens-new-file-system": "make a mount by the newer calls (fsopen)",
    "clones-mount-tree": "copy the tree of mounts (open_tree)",
    "makes-mounts-writable": "make the root writable (mount_setattr)",
    "remounts-root": "mount the root anew, writable",
    "unmounts-cover": "unmount what covers something",
    "changes-root": "change its root (chroot), from which `..` leads out",
    "loads-module": "load a kernel module",
    "unloads-module": "unload a kernel module",
    "loads-kernel": "load the kernel to be started next",
    reboots: "restart the machine",
    "sets-clock": "set the machine's clock",
    "sets-host-name": "set the host's name",
    "sets-domain-name": "set the host's domain name",
    "reads-kernel-log": "read the kernel's log (syslog)",
    "opens-file-by-handle": "open a file by its number, past the folders above it",
    "watches-whole-file-system": "watch what others open (fanotify)",
    "takes-input-output-ports": "use the hardware's ports",
    "changes-descriptor-table": "change the processor's segments (modify_ldt)",
    "makes-all-memory-executable": "make all its memory executable (personality)",
    "hides-memory-from-kernel": "hide memory from the kernel (memfd_secret)",
    "hangs-up-terminal": "hang up a terminal",
    "switches-accounting": "switch process accounting",
    "asks-for-swap": "add swap",
    "opens-vm-socket": "open a socket to the hypervisor (VSOCK)",
    "opens-vm-socket-through-the-32-bit-gate": "open one by socketcall, which hides its family from the filter",
    "opens-kernel-crypto-socket": "use the kernel's ciphers (AF_ALG)",
    "opens-packet-socket": "open a packet socket",
    "opens-old-packet-socket": "open one by the older way (SOCK_PACKET)",
    "opens-raw-socket": "open a raw socket",
    "opens-audit-socket": "reach the kernel's audit",
    "asks-for-sockets-of-all": "list sockets by the kernel's own table (sock_diag)",
    "listens-to-devices": "listen to what happens to devices (netlink)",
    "opens-ipsec-socket": "configure IPsec (XFRM)",
    "opens-other-netlink": "open another netlink socket than that of routes",
    "opens-rare-internet-sockets": "open a socket of UDP-Lite, MPTCP, SMC, L2TP, SCTP or DCCP",
    "opens-ping-sockets": "open a ping socket, whose queues no group counts",
    "gives-keys-to-connections": "give connections keys of their own (TCP-MD5), which no group counts",
    "watches-pressure": "set watches on the machine's pressure, which the kernel takes long to end",
    "attaches-socket-filter": "load a filter into the kernel by a socket",
    "attaches-reuseport-program": "load a program that distributes connections",
    "opens-asynchronous-input-output": "take contexts of asynchronous I/O, which are counted for all of the machine",
    "maps-huge-pages": "take huge pages, which no memory limit counts",
    "maps-huge-pages-through-the-32-bit-gate": "take them by a 32-bit call, which hides its flags from the filter",
    "shares-huge-pages": "take them as System V shared memory",
    "makes-file-of-huge-pages": "take them in a file without a name (memfd)",
    "holds-many-file-locks": "hold 2,000 file locks, whose memory no group counts",
    "opens-many-files": "open more than 4,096 files",
    "opens-rare-sockets": "open sockets of rare families",
    "types-into-terminal": "type into a terminal as its user (TIOCSTI)",
    "changes-line-discipline": "give a terminal another driver",
    "makes-memory-device": "make a device that is the machine's memory",
    "makes-disk-device": "make a device that is the machine's disk",
  },
  unshown: {
    "unshares-by-x32-number": notBuilt,
    "loads-module": notBuilt,
    "unloads-module": notBuilt,
    "loads-kernel": notBuilt,
    "takes-input-output-ports": notBuilt,
    "opens-kernel-crypto-socket": notBuilt,
  },
  // The kernel gives such sockets to whom a network's settings name, and Docker to all users.
  controls: { "opens-ping-sockets": "ordinaryUser" },
  deniedByOf: { "holds-many-file-locks": "isolation", "opens-many-files": "isolation" },
  exceptions: {
    "opens-ping-sockets": ownKernel,
    "gives-keys-to-connections": ownKernel,
    "attaches-socket-filter": ownKernel,
    "attaches-reuseport-program": ownKernel,
    "opens-asynchronous-input-output": ownKernel,
    "maps-huge-pages": ownKernel,
    "shares-huge-pages": ownKernel,
    "holds-many-file-locks": {
      ...ownKernel,
      docker: uncounted,
      podman: uncounted,
      local: uncounted,
      kubernetes: uncounted,
    },
    "watches-pressure": {
      kubernetes: open("pods cannot have /proc/pressure covered; only who may end the pod waits for them"),
    },
    "opens-io-uring": ownRing,
    "traces-child": ownKernel,
    "unshares-user-namespace": ownKernel,
    "clones-user-namespace": ownKernel,
    "unshares-mounts": ownKernel,
    "reads-kernel-log": { runsc: contained("gVisor makes the log up") },
    "makes-memory-device": { runsc: contained("gVisor makes the file, and has no such device behind it") },
    "makes-disk-device": { runsc: contained("gVisor makes the file, and has no such device behind it") },
  },
});

const sameKernel = open("it is the same kernel; the number reveals nothing else");

const overlay = open("the mount table names the folders that make up a root, which nothing inside can open");

/** The host's files, and the kernel's own under /proc and /sys. */
const fileAttacks: readonly Attack[] = attacksOf({
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

/** Attacks of one program in one sandbox, which have the programs of their ids in `images/attacks`. */
export const programAttacks: readonly Attack[] = [
  ...kernelAttacks,
  ...privilegeAttacks,
  ...processAttacks,
  ...fileAttacks,
];

/** Programs that take more than a fair share; each has a sandbox of its own. */
export const bombAttacks: readonly Attack[] = attacksOf({
  group: "More than its share",
  deniedBy: "memoryLimit",
  deniedByOf: {
    "forks-many-processes": "pidsLimit",
    "starts-many-threads": "pidsLimit",
    "leaves-dead-children": "pidsLimit",
    "fills-disk": "isolation",
    "makes-many-files": "isolation",
    "floods-output": "isolation",
  },
  control: "unsealedAlone",
  attacks: {
    "forks-many-processes": "start 300 processes where 64 are allowed",
    "starts-many-threads": "start 300 threads",
    "leaves-dead-children": "leave 300 dead children unwaited for",
    "takes-memory": "take 400 MB of memory where 96 are allowed",
    "takes-memory-in-files": "take it in files of /tmp",
    "takes-memory-in-shared-files": "take it in files of /dev/shm",
    "takes-memory-without-a-file": "take it in a file without a name (memfd)",
    "takes-shared-memory": "take it as System V shared memory",
    "takes-memory-in-pipes": "take it in pipes that nobody reads",
    "takes-memory-in-sockets": "take it in sockets that nobody reads",
    "takes-memory-in-network-sockets": "take it in connections that nobody reads (TCP)",
    "fills-disk": "fill the host's disk",
    "makes-many-files": "make 100,000 empty files",
    "floods-output": "print 30 MB",
  },
  exceptions: {
    "takes-memory-in-network-sockets": {
      kubernetes: open("control groups of version 1 do not count it for a pod; tried on such a node alone"),
    },
  },
});

/** Attacks on the network that bypass its proxy. */
export const directAttacks: readonly Attack[] = attacksOf({
  group: "Past the network's proxy",
  deniedBy: "noNetwork",
  control: "unsealed",
  attacks: {
    "connects-to-host": "connect to what the host serves: Glovebox's API, an engine, a database",
    "connects-to-host-by-ipv6": "connect to it by IPv6",
    "sends-datagrams-to-host": "exchange datagrams with the host",
    "asks-name-server-of-host": "ask a name server, with data in the question",
    "sends-to-everybody": "send to the whole network (broadcast, multicast)",
    "pings-host": "ping the host",
    "finds-way-out": "find a network device besides loopback",
    "changes-network": "add a network device",
  },
  exceptions: {
    "sends-to-everybody": {
      kubernetes: open("the pod's device takes such packets, and what enforces the policy drops them or not"),
    },
    "finds-way-out": { kubernetes: open("each pod has a device; the policy denies what it would reach") },
  },
});

/**
 * What became of an attack. `denied`; `contained`: it got what its own sandbox has, and nothing of the host; `open`: it got
 * through, as the threat model says of this engine; `got_through`: though the engine is declared to deny it; `unclear`: it
 * did not say; `not_tried`.
 */
type AttackVerdict = "denied" | "contained" | "open" | "got_through" | "unclear" | "not_tried";

/** An attack that was tried, with its verdict and what it said. */
export interface JudgedAttack {
  readonly attack: Attack;
  readonly verdict: AttackVerdict;
  readonly said: string;
}

/** What the engine is declared to do with an attack. */
export function declaredAt(attack: Attack, engine: EngineName, capabilities: Capabilities): Expectation {
  const { deniedBy, whereShared } = attack;
  const isDeclared = deniedBy === "isolation" ? isWall(capabilities.isolation) : capabilities[deniedBy] !== "no";
  if (!isDeclared) return { verdict: "open", why: `engine ${engine} does not enforce ${deniedBy} here` };
  if (whereShared !== undefined && capabilities.supervisor === "shared") return whereShared;
  const place = placeOf(engine, capabilities);
  return place === null ? { verdict: "denied" } : expectedAt(attack, place);
}

/** Judges what an attack said, each time that it was tried, against what is declared. */
export function judgeAttack(attack: Attack, declared: Expectation, tries: readonly string[]): JudgedAttack {
  const said = tries.at(-1) ?? "";
  const { verdict: expected, why = "" } = declared;
  if (tries.some((each) => each.startsWith("BLOCKED")) && tries.every((each) => !each.startsWith("ESCAPED"))) {
    return { attack, verdict: "denied", said: wordsOf(tries.find((each) => each.startsWith("BLOCKED")) ?? "") };
  }
  if (tries.length === 0 || !tries.every((each) => each.startsWith("ESCAPED"))) {
    return { attack, verdict: "unclear", said: tries.map(wordsOf).join("; then ") || "it said nothing" };
  }
  if (expected === "denied") return { attack, verdict: "got_through", said: wordsOf(said) };
  return { attack, verdict: expected, said: why };
}

/** Whether an attack must be tried once more: it was not denied, and no column of the table says why. */
export function isDoubtful({ verdict }: JudgedAttack): boolean {
  return verdict === "got_through" || verdict === "unclear";
}

function wordsOf(said: string): string {
  return said.replace(/^(?:BLOCKED|ESCAPED): /, "");
}

/**
 * The column of the table for an engine: where another kernel than this machine's answers, what is said of such a kernel counts;
 * an engine that the table has no column for must deny all.
 */
function placeOf(engine: EngineName, { seccomp }: Pick<Capabilities, "seccomp">): DeclaredPlace | null {
  if (seccomp !== "yes") return ownKernelPlace;
  return declaredPlaces.find((place) => place === engine) ?? null;
}
