/** Linux's own numbers, which a supervisor reports whatever system this end runs on, and what they mean. */
const errnos = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  EIO: [5, "input/output error"],
  E2BIG: [7, "argument list too long"],
  ENOEXEC: [8, "exec format error"],
  EAGAIN: [11, "no process is left"],
  ENOMEM: [12, "no memory is left"],
  EACCES: [13, "permission denied"],
  EBUSY: [16, "it is in use"],
  EEXIST: [17, "it exists"],
  EXDEV: [18, "it leads out of its folder"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "is a directory"],
  EINVAL: [22, "invalid argument"],
  ENFILE: [23, "too many open files"],
  EMFILE: [24, "too many open files"],
  ETXTBSY: [26, "it is being written"],
  EFBIG: [27, "file too large"],
  ENOSPC: [28, "no space is left"],
  EROFS: [30, "read-only file system"],
  ENAMETOOLONG: [36, "name too long"],
  ENOTEMPTY: [39, "directory not empty"],
  ELOOP: [40, "a link stands in the way"],
  EADDRINUSE: [98, "the port is taken"],
  EADDRNOTAVAIL: [99, "there is no such address"],
  EAFNOSUPPORT: [97, "there is no such address"],
  ENETUNREACH: [101, "the network cannot be reached"],
  ECONNREFUSED: [111, "nothing listens"],
  EDQUOT: [122, "no space is left"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

/** Name of one of the numbers that are told apart. */
export type LinuxErrno = keyof typeof errnos;

const names = new Map<number, LinuxErrno>(
  Object.entries(errnos).map(([name, [number]]) => [number as number, name as LinuxErrno]),
);

/** Its name; null for a number that nothing depends on. */
export function errnoName(errno: number): LinuxErrno | null {
  return names.get(errno) ?? null;
}

/** What it means, in a few words. */
export function errnoText(errno: number): string {
  const name = errnoName(errno);
  return name === null ? `error ${errno}` : errnos[name][1];
}
