import type { Isolation } from "./isolation.ts";
import type { LimitKind, Limits } from "./limits.ts";
import type { NetworkPolicy } from "./network/network.ts";
import {
  divideScratch,
  temporaryFolder,
  workFolder,
  watchedScratch,
  type ScratchDivision,
  type ScratchStorage,
  type ScratchPlace,
} from "./scratch.ts";
import { mebibyte } from "../base/bytes.ts";

/** What a sandbox is given, decided before any engine is asked for it; the sandbox layer makes a container's spec of it. */
export interface Profile {
  readonly kind: LimitKind;
  readonly image: string;
  /** OCI runtime that was asked for; left out: the engine's own. */
  readonly ociRuntime?: string | undefined;
  readonly limits: Limits;
  readonly scratch: ScratchDivision;
  /** For the programs' own processes only, never for a process of ours in the same container. */
  readonly environment: Readonly<Record<string, string>>;
  /** `uid:gid` of programs: never root (SPEC SC1). */
  readonly processUser: string;
  readonly workingDirectory: string;
  readonly network: NetworkPolicy;
  /** The weakest isolation that is accepted. */
  readonly minIsolation: Isolation;
}

/** What differs from one one-shot run to another, all of it checked already. */
interface ExecuteProfileOptions {
  readonly image: string;
  readonly ociRuntime?: string | undefined;
  readonly limits: Limits;
  /** `uid:gid` of its programs; default `programUser`. */
  readonly processUser?: string | undefined;
  readonly scratchStorage: ScratchStorage;
  readonly minIsolation: Isolation;
  readonly network: NetworkPolicy;
  /** Variables that its network needs; those of the host and of the request win. */
  readonly networkEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables by which its packages are found; of a search path they are the first part, which leads to them and no more. */
  readonly packageEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables on the deployment's allowlist, with the host's values (SPEC EN1). */
  readonly hostEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Variables of the request; they win. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/**
 * `uid:gid` of programs that write to no folder of the host, on each engine: nobody's on the host, so that what the kernel
 * counts for each user (watches, pending signals, pages of pipes, descriptors on their way, queues) is not taken from a
 * person or a service. 1000 would be the first person of most machines.
 *
 * Below 65536, as far as user namespaces without root map users; above the ranges of accounts, of services (to 999), of
 * containers and of services made on demand (61184 to 65519), in one that systemd and distributions leave unused (65520
 * to 65533), and not the number that ready-made images without a user use there (65532).
 */
export const programUser = "65527:65527";

/**
 * `uid:gid` of what is ours beside a sandbox's programs, such as the file of certificates: used by nothing else, so that no
 * program can change, end or inspect it, and killing a program user's processes does not reach it.
 */
export const helperUser = "63128:63128";

/** The profile of a one-shot run (SPEC EX2). */
export function executeProfile(options: ExecuteProfileOptions): Profile {
  const { image, ociRuntime, limits, scratchStorage, minIsolation, network } = options;
  const { networkEnvironment = {}, packageEnvironment = {}, hostEnvironment = {}, environment = {} } = options;
  const given = { ...hostEnvironment, ...environment };
  const paths = Object.entries(packageEnvironment).map(
    ([name, value]) => [name, joinPaths(value, given[name])] as const,
  );
  return {
    kind: "execute",
    image,
    ...(ociRuntime === undefined ? {} : { ociRuntime }),
    limits,
    scratch: divideScratch(limits, scratchStorage),
    environment: {
      ...{ HOME: temporaryFolder, LANG: "C.UTF-8" },
      ...networkEnvironment,
      ...given,
      ...Object.fromEntries(paths),
    },
    processUser: options.processUser ?? programUser,
    workingDirectory: workFolder,
    network,
    minIsolation,
  };
}

/** The image that Glovebox builds for sessions by itself (SPEC IM2). */
export const defaultSessionImage = "bun-runner-base";
/** Where the code of a call lies (SPEC MO1). */
export const codeFolder = "/code";
/** The session's own writable folder for packages (SPEC PK4). */
export const packagesFolder = "/packages";

/** Room for the longest code, and for what an interpreter writes next to it. */
const codeFolderBytes = 4 * mebibyte;

interface SessionProfileOptions {
  readonly image: string;
  readonly ociRuntime?: string | undefined;
  readonly limits: Limits;
  readonly scratchStorage: ScratchStorage;
  /** Whether all but the folder of the code lies on this machine's disk instead; default false. */
  readonly isOnDisk?: boolean | undefined;
  readonly minIsolation: Isolation;
  /** Where its programs start and its files are kept, which is their home too; default `/work`, and a home in `/tmp`. */
  readonly home?: string | undefined;
}

/** The profile of a session's sandbox; what differs from call to call (time, network, variables) is not in it. */
export function sessionProfile(options: SessionProfileOptions): Profile {
  const { image, ociRuntime, limits, scratchStorage, isOnDisk = false, minIsolation, home } = options;
  const folder = home ?? workFolder;
  const ofEngine = divideScratch(limits, scratchStorage);
  const places = ofEngine.places.flatMap((place) => sharedOut(place, folder));
  const scratch = isOnDisk
    ? { ...watchedScratch(limits), places: places.filter(({ path }) => path === codeFolder) }
    : { ...ofEngine, places };
  return {
    kind: "session",
    image,
    ...(ociRuntime === undefined ? {} : { ociRuntime }),
    limits,
    scratch,
    environment: {
      HOME: home ?? temporaryFolder,
      LANG: "C.UTF-8",
      BUN_INSTALL_CACHE_DIR: packagesFolder,
      NODE_PATH: `${packagesFolder}/node_modules`,
      PYTHONPATH: packagesFolder,
    },
    processUser: programUser,
    workingDirectory: folder,
    network: { kind: "none" },
    minIsolation,
  };
}

/** A quarter of the working folder's room goes to packages, and a little to the code. */
function sharedOut(place: ScratchPlace, folder: string): readonly ScratchPlace[] {
  if (place.path !== workFolder) return [place];
  const codeBytes = Math.min(codeFolderBytes, Math.floor(place.sizeBytes / 8));
  const packagesBytes = Math.floor(place.sizeBytes / 4);
  return [
    { path: folder, sizeBytes: place.sizeBytes - codeBytes - packagesBytes },
    { path: codeFolder, sizeBytes: codeBytes },
    { path: packagesFolder, sizeBytes: packagesBytes },
  ];
}

function joinPaths(ours: string, own: string | undefined): string {
  return own === undefined || own === "" ? ours : `${ours}:${own}`;
}
