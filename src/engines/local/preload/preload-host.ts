import type { Capabilities } from "../../capabilities.ts";
import { nodeFaultNote } from "../../node-faults.ts";
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join, win32 } from "node:path";
import { promisify } from "node:util";
import { throwIfCancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { HostBun } from "../host-bun.ts";
import { readOpenFilesCeiling } from "../bubblewrap/host-root.ts";
import type { LocalEngineOptions } from "../level.ts";
import { findPython, findNode } from "../interpreters.ts";
import { isOpenToOthers, openOwnBase, openPassableBase } from "./container-folder.ts";
import { readGuards, type GuardedInterpreters, type GuardText } from "./guard-command.ts";
import type { BoundingTools, InstallTools } from "./host-program.ts";

/** Why it is this level and no better one. */
export interface WhyPreload {
  /** One sentence. */
  readonly reason: string;
  /** What would give a better one, one sentence. */
  readonly fix?: string | undefined;
}

interface PreloadAbilities extends WhyPreload {
  readonly platform: NodeJS.Platform;
  /** Whether util-linux's `setpriv` is there. */
  readonly setpriv: boolean;
  /** Whether programs run as the server's own root. */
  readonly asRoot: boolean;
  /** Null where there is no Node. */
  readonly nodeVersion: string | null;
}

const interception = {
  substitute: "interception inside the program's own interpreter (preload), which hostile code may get round",
};

/** What level `preload` can do: the kernel enforces hardly anything, and it says so. */
export function preloadCapabilities(abilities: PreloadAbilities): Capabilities {
  const { platform, setpriv, reason, fix, asRoot, nodeVersion } = abilities;
  const nodeNote = nodeVersion === null ? null : nodeFaultNote(nodeVersion);
  const seesMemory = platform !== "win32";
  return {
    isolation: "preload",
    images: false,
    programs: "interpretersOnly",
    javascript: "node",
    notes: [
      `isolation preload: the program runs on the host itself, and only its own interpreter refuses it files outside its folders, network, other processes and native code. This stops mistakes and simple mischief, not an attacker. Why no better: ${reason}`,
      ...(asRoot ? ["isolation preload: the program runs as root, like Glovebox itself."] : []),
      ...(nodeNote === null ? [] : [nodeNote]),
    ],
    isolationAdvice: adviceOf(reason, fix),
    seccomp: "no",
    noNewPrivileges: setpriv ? "yes" : interception,
    setuidRefusal: "no",
    readOnlyRoot: interception,
    noNetwork: interception,
    memoryLimit: seesMemory ? { substitute: "a watch that ends the program when it uses more" } : "no",
    cpuLimit: "no",
    pidsLimit: {
      substitute:
        "interception inside the program's own interpreter: no other processes, and so many threads in Python",
    },
    scratch: "disk",
    diskLimit: "no",
    hostPaths: false,
    oomReporting: seesMemory,
    cpuReporting: false,
    execUser: false,
    execNetwork: "none",
  };
}

/** Everything that level `preload` knows about its host. */
export interface PreloadHost {
  readonly platform: NodeJS.Platform;
  /** In which the folders of containers stand. */
  readonly baseFolder: string;
  readonly interpreters: GuardedInterpreters;
  readonly guards: readonly GuardText[];
  /** None unless the engine installs. */
  readonly installers: InstallTools;
  readonly tools: BoundingTools;
  readonly openFilesCeiling: number;
  /** Whether programs can run as another user than we, who are root. */
  readonly changesUser: boolean;
  readonly capabilities: Capabilities;
  /** `preload, Python 3, Node 24.21.0`. */
  readonly version: string;
  /** Environment of a container's programs, before what they are given. */
  environmentFor(temporaryFolder: string): Readonly<Record<string, string>>;
}

/** @throws ENGINE_UNAVAILABLE when the host has neither Python nor Node, CANCELLED */
export async function openPreloadHost(
  options: LocalEngineOptions,
  why: WhyPreload,
  signal?: AbortSignal,
): Promise<PreloadHost> {
  const { platform, environment: host, preload: { installs = false } = {} } = options;
  const [python, node, guards, setpriv] = await Promise.all([
    findPython({ ...options, signal }),
    findNode({ ...options, signal }),
    readGuards(),
    platform === "linux" ? findSetpriv() : null,
  ]);
  throwIfCancelled(signal);
  if (python === null && node === null) throw nothingToRun();
  const bun = installs ? await bunFor(options, signal) : null;
  const executables = [bun ?? undefined, python?.executable, node?.executable, ...(python?.libraries ?? [])].filter(
    (path) => path !== undefined,
  );
  const canChangeUser = options.uid === 0 && setpriv !== null && executables.every(isOpenToOthers);
  const passable = canChangeUser ? await openPassableBase(options.preloadFolders.passable) : null;
  const changesUser = passable !== null;
  return {
    platform,
    baseFolder: passable ?? (await openOwnBase(options.preloadFolders.own, options.uid)),
    interpreters: { python: python?.executable ?? null, node },
    guards,
    installers: { bun, python: installs ? (python?.executable ?? null) : null },
    tools: { setpriv, prlimit: platform === "linux" ? findTool("prlimit") : null },
    openFilesCeiling: platform === "linux" ? readOpenFilesCeiling() : Number.POSITIVE_INFINITY,
    changesUser,
    version: [
      "preload",
      ...(python === null ? [] : ["Python 3"]),
      ...(node === null ? [] : [`Node ${node.version}`]),
    ].join(", "),
    capabilities: preloadCapabilities({
      platform,
      setpriv: setpriv !== null,
      ...why,
      asRoot: options.uid === 0 && !changesUser,
      nodeVersion: node?.version ?? null,
    }),
    environmentFor: (folder) => defaultEnvironment({ platform, host, temporaryFolder: folder }),
  };
}

interface EnvironmentSources {
  readonly platform: NodeJS.Platform;
  /** Of the host; only what Windows programs cannot start without is taken from it. */
  readonly host: Readonly<Record<string, string | undefined>>;
  /** Real path of the folder for temporary files. */
  readonly temporaryFolder: string;
}

/**
 * What every program has unless its container or itself is given another. On Windows each variable is named that Node would
 * otherwise fill in from the host's own environment, the user's name and home among them.
 */
export function defaultEnvironment({
  platform,
  host,
  temporaryFolder,
}: EnvironmentSources): Readonly<Record<string, string>> {
  if (platform !== "win32") return { PATH: "/usr/bin:/bin", HOME: temporaryFolder, TMPDIR: temporaryFolder };
  const systemRoot = host["SystemRoot"] ?? host["SYSTEMROOT"] ?? "C:\\Windows";
  const homeDrive = driveOf(temporaryFolder);
  return {
    SystemRoot: systemRoot,
    WINDIR: systemRoot,
    SYSTEMDRIVE: driveOf(systemRoot),
    PATH: win32.join(systemRoot, "System32"),
    HOME: temporaryFolder,
    USERPROFILE: temporaryFolder,
    HOMEDRIVE: homeDrive,
    HOMEPATH: temporaryFolder.slice(homeDrive.length),
    LOGONSERVER: "",
    USERDOMAIN: "",
    USERNAME: "glovebox",
    TEMP: temporaryFolder,
    TMP: temporaryFolder,
  };
}

/** `C:`, or the share of a path on another machine. */
function driveOf(folder: string): string {
  return win32.parse(folder).root.replace(/\\$/, "");
}

/** What would help comes first: people read that, and then why. */
function adviceOf(reason: string, fix: string | undefined): string {
  if (fix === undefined) return reason;
  // A line to type stands before its reason: `apt-get install x`: x is missing.
  return fix.endsWith("`") ? `${fix}: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` : `${fix} ${reason}`;
}

/** For what installs; without it Python packages are installed all the same. */
async function bunFor(options: LocalEngineOptions, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    const bun = await HostBun.find(options);
    await bun.provide(signal);
    return bun.path;
  } catch (error) {
    throwIfCancelled(signal);
    if (error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE") return null;
    throw error;
  }
}

function findTool(name: string): string | null {
  const paths = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((folder) => join(folder, name));
  return paths.find(isExecutable) ?? null;
}

async function findSetpriv(): Promise<string | null> {
  const path = findTool("setpriv");
  if (path === null) return null;
  try {
    const { stdout } = await promisify(execFile)(path, ["--help"], { env: {} });
    return stdout.includes("--pdeathsig") ? path : null;
  } catch {
    // BusyBox's own ends with an error.
    return null;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function nothingToRun(): GloveboxError {
  return new GloveboxError(
    "ENGINE_UNAVAILABLE",
    "The embedded engine found neither Python 3 nor Node 22.18 on this host.",
    {
      suggestion: "Install one of them, or use Docker or Podman.",
      context: { engine: "local" },
    },
  );
}
