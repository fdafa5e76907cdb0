import { clientFiles } from "../docker-api/http/client-files.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import type { Engine } from "../engine.ts";
import { findPodmanEndpoint } from "./find-podman-endpoint.ts";
import { pathInMachine } from "./path-in-machine.ts";
import { podmanDialect } from "./podman-dialect.ts";
import { readRegistryCredentials } from "./registry-credentials.ts";
import { writeSeccompFile } from "./seccomp-file.ts";
import { explainPodmanFailure } from "./start-instructions.ts";

export interface PodmanEngineOptions {
  /** `CONTAINER_HOST`, `XDG_RUNTIME_DIR`, `HOME`, `TMPDIR`, `REGISTRY_AUTH_FILE` and `DOCKER_CONFIG` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Numeric id of this process's user; null where the system has none. */
  readonly uid: number | null;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
  /** Folder for the profile's file, which the service reads: not writable for anyone else. */
  readonly profileFolder: string;
}

/** Podman, over its service's API; nothing is opened before the first call. */
export function createPodmanEngine(options: PodmanEngineOptions): Engine {
  const { environment, platform, uid, randomInteger, profileFolder } = options;
  return new DockerApiEngine({
    dialect: podmanDialect({
      platform,
      shareProfile: async (profile) => {
        // Each time: a file that is gone or changed must not be what a container is given.
        const file = await writeSeccompFile({ folder: profileFolder, profile });
        return pathInMachine(file, platform);
      },
    }),
    randomInteger,
    findEndpoint: () => findPodmanEndpoint({ environment, platform, uid, files: clientFiles }),
    explain: (failure) => explainPodmanFailure(failure, { platform, uid }),
    readClientConfig: () => readRegistryCredentials(environment, clientFiles),
  });
}
