import { lstatSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { coveredProcPaths } from "../../covered-paths.ts";

/** One entry of the host's `/` that belongs to its system: a link into /usr, or a folder. */
export interface RootEntry {
  /** Absolute path, the same inside and outside. */
  readonly path: string;
  /** Target of the link; null for a folder. */
  readonly linkTarget: string | null;
}

/** The parts of the host that a sandbox's view is made of. */
export interface HostRoot {
  readonly entries: readonly RootEntry[];
  /** Whether /usr/local exists and must be hidden: it holds the operator's own files. */
  readonly hasUsrLocal: boolean;
  /** Paths under /etc that programs need and that hold no secret; copied once. */
  readonly etcPaths: readonly string[];
  /** Files of /proc that /dev/null covers. */
  readonly coveredFiles: readonly string[];
  /** Folders of /proc that an empty folder covers. */
  readonly coveredFolders: readonly string[];
  /** Folders of /proc that are made read-only, whatever their modes say. */
  readonly readOnlyFolders: readonly string[];
}

/** Of the host's `/`; /usr itself is always there. */
const systemPaths = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Libraries' search path, alternatives' links, public certificates and the time zone. */
const etcPaths = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/crypto-policies",
  "/etc/ld-musl-aarch64.path",
  "/etc/ld-musl-x86_64.path",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];

const readOnlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"];

/** Looks at the host's system. Cheap, but the result does not change while a server runs. */
export function readHostRoot(): HostRoot {
  const covered = coveredProcPaths.filter(exists);
  return {
    entries: systemPaths.filter(exists).map((path) => ({ path, linkTarget: linkTarget(path) })),
    hasUsrLocal: isFolder("/usr/local"),
    etcPaths: etcPaths.filter(exists),
    coveredFiles: covered.filter((path) => !isFolder(path)),
    coveredFolders: covered.filter(isFolder),
    readOnlyFolders: readOnlyPaths.filter(isFolder),
  };
}

/** Whether a path is part of what every sandbox sees of the host. */
export function isSystemPath(path: string): boolean {
  return /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(path) && !path.startsWith("/usr/local/");
}

/** The most open files that this process may grant, from its own hard limit. */
export function readOpenFilesCeiling(): number {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined || limit === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(limit);
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function linkTarget(path: string): string | null {
  return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
}
