import os from "node:os";
import path from "node:path";

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The machine and process that Glovebox runs on, read once. */
export interface Host {
  readonly platform: NodeJS.Platform;
  /** As Node names it: x64, arm64. */
  readonly architecture: NodeJS.Architecture;
  /** Numeric user id; null if the system has none. */
  readonly uid: number | null;
  /** Number of this process. */
  readonly pid: number;
  /** The executable that runs this process: Node, or another runtime. */
  readonly executable: string;
  /** Flags that the executable knows. */
  readonly nodeFlags: ReadonlySet<string>;
  readonly hostName: string;
  /** Of the system's kernel, as the system calls it. */
  readonly kernelRelease: string;
  /** Milliseconds since boot, from a clock that cannot be set and that keeps running during sleep. */
  readonly uptimeMs: () => number;
  /** How many programs can run at once. */
  readonly processors: number;
  /** Memory still available to programs, in bytes. */
  readonly availableMemoryBytes: () => number;
  readonly environment: Environment;
  readonly homeDirectory: string;
  readonly workingDirectory: string;
  /** Folder for data that must outlive the process: leases and records of sandboxes (docs/configuration.md). */
  readonly stateDirectory: string;
  /** Folder for files that need not outlive the process. */
  readonly temporaryDirectory: string;
}

/** Root's folder for data that programs of other users must be able to reach: the state folder is closed to them. */
export const passableStateFolder = "/var/lib/glovebox";

/** The only place that reads the process's environment. */
export function readHost(): Host {
  return {
    platform: process.platform,
    architecture: process.arch,
    uid: process.getuid?.() ?? null,
    pid: process.pid,
    executable: process.execPath,
    nodeFlags: process.allowedNodeEnvironmentFlags,
    hostName: os.hostname(),
    kernelRelease: os.release(),
    uptimeMs: () => os.uptime() * 1000,
    processors: os.availableParallelism(),
    availableMemoryBytes: () => process.availableMemory(),
    environment: process.env,
    homeDirectory: homeDirectory(),
    workingDirectory: process.cwd(),
    stateDirectory: stateDirectory(process.env, homeDirectory()),
    temporaryDirectory: os.tmpdir(),
  };
}

/** Addresses at which this machine is reachable, except link-local ones. */
export function readHostAddresses(): { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] } {
  const rows = Object.values(os.networkInterfaces()).flatMap((each) => each ?? []);
  const of = (family: string): readonly string[] =>
    rows.filter((row) => row.family === family && !row.address.startsWith("fe80")).map(({ address }) => address);
  return { ipv4: of("IPv4"), ipv6: of("IPv6") };
}

/** Version of the Node that runs this process, such as `24.21.0`. */
export function readNodeVersion(): string {
  return process.versions.node;
}

/** Puts a variable into this process's own environment, until it is disposed of. */
export function plantVariable(name: string, value: string): Disposable {
  const before = process.env[name];
  process.env[name] = value;
  return {
    [Symbol.dispose]: () => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    },
  };
}

/**
 * If HOME is empty, the home of the user's account: its files must not end up in whatever folder a command starts in.
 */
function homeDirectory(): string {
  const home = os.homedir();
  if (path.isAbsolute(home)) return home;
  try {
    return os.userInfo().homedir;
  } catch {
    // A user without an account, as in a container.
    return path.parse(process.cwd()).root;
  }
}

function stateDirectory(environment: Environment, homeDirectory: string): string {
  const base = environment["XDG_STATE_HOME"] ?? "";
  return path.join(path.isAbsolute(base) ? base : path.join(homeDirectory, ".local", "state"), "glovebox");
}
