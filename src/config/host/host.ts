import os from "node:os";
import path from "node:path";
import type { Environment } from "../layers/environment-layer.ts";

/** The machine and process that Glovebox runs on, read once. */
export interface Host {
  readonly platform: NodeJS.Platform;
  /** As Node names it: x64, arm64. */
  readonly architecture: NodeJS.Architecture;
  /** Numeric user id; null where the system has none. */
  readonly uid: number | null;
  /** Number of this process. */
  readonly pid: number;
  /** The executable that runs this process; Node's, unless another runtime runs it. */
  readonly executable: string;
  /** Flags that the executable knows. */
  readonly nodeFlags: ReadonlySet<string>;
  readonly hostName: string;
  /** Of the system's kernel, as the system calls it. */
  readonly kernelRelease: string;
  /** Milliseconds since the machine's boot, of a clock that nobody sets and that runs on while it sleeps. */
  readonly uptimeMs: () => number;
  /** How many programs can run at once. */
  readonly processors: number;
  /** Memory that programs can still get, in bytes. */
  readonly availableMemoryBytes: () => number;
  readonly environment: Environment;
  readonly homeDirectory: string;
  readonly workingDirectory: string;
  /** Folder for what must outlive the process: leases and records of sandboxes (docs/configuration.md). */
  readonly stateDirectory: string;
  /** Folder for files that need not outlive the process. */
  readonly temporaryDirectory: string;
}

/** Root's folder for what programs of other users must be able to reach: the state folder is closed to them. */
export const passableStateFolder = "/var/lib/glovebox";

/** The one place where the process's surroundings are read. */
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

/** With HOME empty that of the user's account: what belongs there must not land in whatever folder a command starts in. */
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
