import { mebibyte } from "../base/bytes.ts";
import type { Isolation } from "./isolation.ts";
import type { Limits } from "./limits.ts";
import { programUser, type Profile } from "./profile.ts";
import {
  divideScratch,
  temporaryFolder,
  watchedScratch,
  workFolder,
  type ScratchPlace,
  type ScratchStorage,
} from "./scratch.ts";

/** The image that Glovebox builds for sessions by itself (SPEC IM2). */
export const defaultSessionImage = "bun-runner-base";
/** Where the code of a call lies (SPEC MO1). */
export const codeFolder = "/code";
/** The session's own writable folder for packages (SPEC PK4). */
export const packagesFolder = "/packages";

/** Room for the longest code, and for what an interpreter writes next to it. */
const codeFolderBytes = 4 * mebibyte;

export interface SessionProfileOptions {
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
