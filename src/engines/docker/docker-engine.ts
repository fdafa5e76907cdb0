import { clientFiles } from "../docker-api/http/client-files.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import type { Engine } from "../engine.ts";
import { dockerDialect } from "./docker-dialect.ts";
import { clientFolder, findDockerEndpoint } from "./find-docker-endpoint.ts";
import { explainDockerFailure } from "./start-instructions.ts";

export interface DockerEngineOptions {
  /** `DOCKER_HOST`, `DOCKER_CONTEXT`, `DOCKER_CONFIG`, `DOCKER_TLS_VERIFY`, `DOCKER_CERT_PATH`, `HOME` and `XDG_RUNTIME_DIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
}

/** Docker, over its API; nothing is opened before the first call. */
export function createDockerEngine(options: DockerEngineOptions): Engine {
  const { environment, platform, randomInteger } = options;
  return new DockerApiEngine({
    dialect: dockerDialect,
    randomInteger,
    findEndpoint: () => findDockerEndpoint({ environment, platform, files: clientFiles }),
    explain: (failure) => explainDockerFailure(failure, platform),
    readClientConfig: async () => clientFiles.read(`${clientFolder(environment)}/config.json`),
  });
}
