import { clientFiles } from "../docker-api/http/client-files.ts";
import { DockerApiEngine, type SeccompProfiles } from "../docker-api/engine.ts";
import type { Engine } from "../engine.ts";
import { dockerDialect } from "./docker-dialect.ts";
import { clientFolder, findDockerEndpoint } from "./find-docker-endpoint.ts";
import { explainDockerFailure } from "./start-instructions.ts";

export interface DockerEngineOptions {
  /** `DOCKER_HOST`, `DOCKER_CONTEXT`, `DOCKER_CONFIG`, `DOCKER_TLS_VERIFY`, `DOCKER_CERT_PATH`, `HOME` and `XDG_RUNTIME_DIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly seccompProfiles: SeccompProfiles;
}

/** Docker, over its API; nothing is opened before the first call. */
export function createDockerEngine({ environment, platform, seccompProfiles }: DockerEngineOptions): Engine {
  return new DockerApiEngine({
    dialect: dockerDialect,
    seccompProfiles,
    findEndpoint: () => findDockerEndpoint({ environment, platform, files: clientFiles }),
    explain: (failure) => explainDockerFailure(failure, platform),
    readClientConfig: async () => clientFiles.read(`${clientFolder(environment)}/config.json`),
  });
}
