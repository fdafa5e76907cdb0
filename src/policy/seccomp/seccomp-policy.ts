import type { ArgumentChoice, SyscallErrno, SyscallRule } from "./syscalls.ts";

/**
 * Refuses what is left where much is: an OCI profile's default, so that it takes no rules there. Another errno would take
 * one for each bit pattern, such as 82 for `personality`, and each costs time whenever a container or a program starts.
 */
const patternless: SyscallErrno = "ENOSYS";

/** All of CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const newNamespaceFlags = 0x7e02_0080;

/** The kernel knows fewer than 64 families and refuses what is above, so six bits tell all apart. */
const addressFamilyMask = 0x3f;

const addressFamilies = { unix: 1, inet: 2, inet6: 10, netlink: 16 };

const socketTypes = { stream: 1, datagram: 2, raw: 3 };

/** Low bits of a socket's type; the rest are the flags CLOEXEC and NONBLOCK. */
const socketTypeMask = 0xf;

/** The kernel knows protocols up to 262 and refuses what is above, so nine bits tell all apart. */
const protocolMask = 0x1ff;

const protocols = { any: 0, tcp: 6, udp: 17 };

const withProtocols = (values: readonly number[]): ArgumentChoice => ({
  argument: 2,
  mask: protocolMask,
  cases: [{ values, rule: "allow" }],
  otherwise: patternless,
});

/**
 * TCP and UDP. Not ping: what waits in its sockets, megabytes in each, is counted for nobody, and there is nothing to
 * ping. Not UDP-Lite, MPTCP, SCTP, SMC and L2TP, which programs do without and whose memory the kernel counts less
 * strictly; no raw socket and no packet socket, which AF_INET gives by type 10.
 */
const internetSocket: ArgumentChoice = {
  argument: 1,
  mask: socketTypeMask,
  cases: [
    { values: [socketTypes.stream], rule: withProtocols([protocols.any, protocols.tcp]) },
    { values: [socketTypes.datagram], rule: withProtocols([protocols.any, protocols.udp]) },
    { values: [socketTypes.raw], rule: "EPERM" },
  ],
  otherwise: patternless,
};

/**
 * NETLINK_ROUTE alone. The other kinds tell of devices, audit and everybody's sockets, configure IPsec and filters, and
 * lead to whatever modules register there.
 */
const netlinkSocket: ArgumentChoice = {
  argument: 2,
  // The kernel refuses protocols above 31.
  mask: 0x1f,
  cases: [
    { values: [0], rule: "allow" },
    /** NETLINK_AUDIT as by a kernel without: for another errno, root's `sudo` complains that it may not send a message. */
    { values: [9], rule: "EPROTONOSUPPORT" },
  ],
  otherwise: patternless,
};

/**
 * SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF: code in the kernel, in memory that the filters of
 * the whole machine share. The kernel knows options up to 83, and that only CAP_NET_ADMIN may set IPsec's policies and
 * buffers beyond the limit.
 */
const socketPrograms: ArgumentChoice = {
  argument: 2,
  mask: 0x7f,
  cases: [{ values: [26, 50, 51, 52], rule: "EPERM" }],
  otherwise: "allow",
};

/**
 * TCP_ULP (encryption in the kernel), TCP_MD5SIG and its newer form, and keys of TCP-AO: memory that is counted for nobody,
 * up to 128 KiB a socket, and what only routers need. TLS libraries encrypt by themselves then.
 */
const tcpKeys: ArgumentChoice = {
  argument: 2,
  mask: 0x7f,
  cases: [{ values: [14, 31, 32, 38, 39, 40], rule: "EPERM" }],
  otherwise: "allow",
};

/**
 * Huge pages are a stock of the whole machine, which no memory limit counts. In each call one bit asks for them; the size
 * stands in other bits, which mean nothing without it. Transparent ones are ordinary memory and stay.
 */
const withoutHugePages = (argument: number, bit: number): ArgumentChoice => ({
  argument,
  mask: bit,
  cases: [{ values: [0], rule: "allow" }],
  otherwise: "EPERM",
});

/** By type and number, the low half of a request; the high half only says how its data is laid out. */
const refusedIoctls = {
  /** Types into the terminal as its user would: the way out of a sandbox that shares one. */
  TIOCSTI: 0x5412,
  /** Pastes the console's selection, to the same effect. */
  TIOCLINUX: 0x541c,
  /** Loads line disciplines, drivers that nothing in a sandbox needs. */
  TIOCSETD: 0x5423,
  /** Move files out of the project quota that limits a disk. */
  FS_IOC_SETFLAGS: 0x6602,
  FS_IOC_FSSETXATTR: 0x5820,
};

/** Linux with its version or machine name dressed up, and the query; not ADDR_NO_RANDOMIZE or READ_IMPLIES_EXEC. */
const personalities = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** Calls that depend on an argument; a kernel that takes it as `int` (or `short`) sees the same bits as the rule. */
const conditionalSyscalls: Readonly<Record<string, ArgumentChoice>> = {
  /** Both architectures pass the flags first. */
  clone: {
    argument: 0,
    mask: newNamespaceFlags,
    cases: [{ values: [0], rule: "allow" }],
    otherwise: "EPERM",
  },
  socket: {
    argument: 0,
    mask: addressFamilyMask,
    cases: [
      { values: [addressFamilies.unix], rule: "allow" },
      { values: [addressFamilies.inet, addressFamilies.inet6], rule: internetSocket },
      { values: [addressFamilies.netlink], rule: netlinkSocket },
    ],
    otherwise: patternless,
  },
  socketpair: {
    argument: 0,
    mask: addressFamilyMask,
    cases: [{ values: [addressFamilies.unix], rule: "allow" }],
    otherwise: patternless,
  },
  setsockopt: {
    argument: 1,
    /** Tells SOL_SOCKET and TCP from the levels of all sockets that there are: 0, 17, 41, 58, 255 and 270. */
    mask: 0x1f,
    cases: [
      { values: [1], rule: socketPrograms },
      { values: [6], rule: tcpKeys },
    ],
    otherwise: "allow",
  },
  /** MAP_HUGETLB. */
  mmap: withoutHugePages(3, 0x4_0000),
  /** MFD_HUGETLB. */
  memfd_create: withoutHugePages(1, 0x4),
  /** SHM_HUGETLB. */
  shmget: withoutHugePages(2, 0x800),
  ioctl: {
    argument: 1,
    mask: 0xffff,
    cases: [{ values: Object.values(refusedIoctls), rule: "EPERM" }],
    otherwise: "allow",
  },
  mknod: plainFile(1),
  mknodat: plainFile(2),
  personality: { argument: 0, cases: [{ values: personalities, rule: "allow" }], otherwise: patternless },
};

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

/**
 * Calls that run whatever their arguments are, by purpose; names separated by white space. What is in no list here nor
 * among the conditional calls is refused.
 */
export const allowedSyscalls: Readonly<Record<string, string>> = {
  processes: `
    fork vfork execve execveat exit exit_group wait4 waitid pidfd_open getpid getppid gettid getpgid setpgid getpgrp
    getsid setsid uname sysinfo times getrusage getrlimit setrlimit prlimit64 getcpu prctl arch_prctl restart_syscall
  `,
  threads: `
    futex futex_wait futex_wake futex_requeue futex_waitv set_tid_address set_robust_list get_robust_list rseq
    membarrier map_shadow_stack
  `,
  /** The kernel itself asks for a capability where a process would favour itself. */
  scheduling: `
    sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler
    sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min
    sched_rr_get_interval getpriority setpriority ioprio_get ioprio_set
  `,
  signals: `
    kill tkill tgkill pidfd_send_signal pause sigaltstack rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
    rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo signalfd signalfd4
  `,
  /** The container's start and `setup_commands` change identity; a process without capabilities cannot. */
  identity: `
    getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid
    setfsuid setfsgid setgroups capget capset umask
  `,
  memory: `
    brk munmap mremap mprotect madvise mincore msync mlock mlock2 mlockall munlock munlockall mseal pkey_alloc pkey_free
    pkey_mprotect
  `,
  time: `
    time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer timer_create
    timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime timerfd_gettime
  `,
  readingAndWriting: `
    open openat openat2 creat close close_range read write readv writev pread64 pwrite64 preadv pwritev preadv2
    pwritev2 lseek sendfile copy_file_range splice tee readahead fadvise64 fallocate truncate ftruncate sync syncfs
    fsync fdatasync sync_file_range dup dup2 dup3 fcntl flock pipe pipe2
  `,
  filesAndFolders: `
    stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents getdents64 getcwd chdir
    fchdir mkdir mkdirat rmdir rename renameat renameat2 link linkat symlink symlinkat readlink readlinkat unlink
    unlinkat chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat
    file_getattr getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat setxattr
    lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
  `,
  waiting: `
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
    eventfd2 inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
  `,
  sockets: `
    bind listen accept accept4 connect shutdown getsockname getpeername getsockopt sendto recvfrom sendmsg recvmsg
    sendmmsg recvmmsg
  `,
  /** System V and POSIX queues live in the sandbox's own IPC namespace. */
  interprocess: `
    shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
  `,
  /** What a process restricts for itself comes on top of this filter and cannot loosen it. */
  selfRestriction: `seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self`,
  random: `getrandom`,
  /** Planted by the kernel in programs that the host traces; refusing them would crash the program. */
  hostTracing: `uretprobe uprobe`,
};

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

/**
 * Files, FIFOs and sockets (0 means file), by the format bits of the mode: no character or block device, and nothing with
 * one of the refused bits.
 */
function plainFile(argument: number, refusedBits = 0): ArgumentChoice {
  return {
    argument,
    mask: 0xf000 | refusedBits,
    cases: [{ values: [0, 0x1000, 0x8000, 0xc000], rule: "allow" }],
    otherwise: "EPERM",
  };
}
