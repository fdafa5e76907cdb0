import { plainFile } from "./plain-file.ts";
import type { ArgumentChoice } from "./syscall-rule.ts";

/** All of CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaceFlags = 0x7e02_0080;

/** The kernel knows fewer than 64 families and refuses what is above, so eight bits tell all apart. */
const addressFamilyMask = 0xff;

const addressFamilies = { unix: 1, inet: 2, inet6: 10, netlink: 16 };

/** Stream, datagram, raw (which netlink uses), sequenced packet. Not 10, by which AF_INET gives a packet socket. */
const socketTypes = [1, 2, 3, 5];

/** Low bits of a socket's type; the rest are the flags CLOEXEC and NONBLOCK. */
const socketTypeMask = 0xf;

/** NETLINK_AUDIT, and the bits that tell netlink's at most 32 protocols apart. */
const auditProtocol = 9;
const netlinkProtocolMask = 0x1f;

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
      {
        values: [addressFamilies.unix, addressFamilies.inet, addressFamilies.inet6],
        rule: {
          argument: 1,
          mask: socketTypeMask,
          cases: [{ values: socketTypes, rule: "allow" }],
          otherwise: "EPERM",
        },
      },
      {
        values: [addressFamilies.netlink],
        /** EINVAL reads as "this kernel has no audit"; without, root's `sudo` complains that it may not send a message. */
        rule: {
          argument: 2,
          mask: netlinkProtocolMask,
          cases: [{ values: [auditProtocol], rule: "EINVAL" }],
          otherwise: "allow",
        },
      },
    ],
    otherwise: "EPERM",
  },
  socketpair: {
    argument: 0,
    mask: addressFamilyMask,
    cases: [{ values: [addressFamilies.unix], rule: "allow" }],
    otherwise: "EPERM",
  },
  ioctl: {
    argument: 1,
    mask: 0xffff,
    cases: [{ values: Object.values(refusedIoctls), rule: "EPERM" }],
    otherwise: "allow",
  },
  mknod: plainFile(1),
  mknodat: plainFile(2),
  /** ENOSYS, an OCI profile's default: another errno would take it a rule for each of 82 bit patterns. */
  personality: { argument: 0, cases: [{ values: personalities, rule: "allow" }], otherwise: "ENOSYS" },
};
