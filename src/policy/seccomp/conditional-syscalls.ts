import { plainFile } from "./plain-file.ts";
import type { ArgumentChoice, SyscallErrno } from "./syscall-rule.ts";

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
export const conditionalSyscalls: Readonly<Record<string, ArgumentChoice>> = {
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
