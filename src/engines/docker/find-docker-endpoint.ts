import { createHash } from "node:crypto";
import type { FileReader } from "../docker-api/http/client-files.ts";
import type { Endpoint, TlsMaterial } from "../docker-api/http/endpoint.ts";
import { unavailableError, type Unavailability } from "../docker-api/http/unavailability.ts";
import { parseDockerHost } from "./parse-docker-host.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface FindDockerOptions {
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  readonly files: FileReader;
}

/** `Endpoint.origin` of an endpoint that no setting named. */
export const defaultOrigin = "the default socket";

/** Docker's pipe on Windows. */
const windowsPipe = "//./pipe/docker_engine";

/**
 * Where Docker is, found as its own client does: `DOCKER_HOST`, else the context of `DOCKER_CONTEXT` or of the client's
 * configuration, else the default socket.
 * @throws ENGINE_UNAVAILABLE naming a setting that is invalid
 */
export async function findDockerEndpoint(options: FindDockerOptions): Promise<Endpoint> {
  const { environment, files } = options;
  const host = environment["DOCKER_HOST"] ?? "";
  if (host !== "") {
    return usable(parseDockerHost(host, { origin: "DOCKER_HOST", tls: await environmentTls(environment, files) }));
  }
  const context = environment["DOCKER_CONTEXT"] || (await configuredContext(environment, files));
  if (context !== "" && context !== "default") return usable(await contextEndpoint(context, environment, files));
  return defaultEndpoint(options);
}

/** Folder of the Docker client's configuration. */
export function clientFolder(environment: Environment): string {
  return environment["DOCKER_CONFIG"] || `${environment["HOME"] ?? environment["USERPROFILE"] ?? ""}/.docker`;
}

function usable(found: Endpoint | Unavailability): Endpoint {
  if ("reason" in found) throw unavailableError("docker", found);
  return found;
}

async function environmentTls(environment: Environment, files: FileReader): Promise<TlsMaterial | null> {
  if (!environment["DOCKER_TLS_VERIFY"]) return null;
  return tlsMaterial(environment["DOCKER_CERT_PATH"] || clientFolder(environment), true, files);
}

async function tlsMaterial(folder: string, verify: boolean, files: FileReader): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all(["ca", "cert", "key"].map((name) => files.read(`${folder}/${name}.pem`)));
  return { ca: ca ?? undefined, cert: cert ?? undefined, key: key ?? undefined, verify };
}

async function configuredContext(environment: Environment, files: FileReader): Promise<string> {
  const config = parsed(await files.read(`${clientFolder(environment)}/config.json`));
  const { currentContext } = (config ?? {}) as { readonly currentContext?: unknown };
  return typeof currentContext === "string" ? currentContext : "";
}

async function contextEndpoint(
  name: string,
  environment: Environment,
  files: FileReader,
): Promise<Endpoint | Unavailability> {
  const contexts = `${clientFolder(environment)}/contexts`;
  // Docker's client names a context's folders by the hash of its name.
  const folder = createHash("sha256").update(name).digest("hex");
  const meta = parsed(await files.read(`${contexts}/meta/${folder}/meta.json`)) as ContextMeta | null;
  const docker = meta?.Endpoints?.docker;
  if (typeof docker?.Host !== "string") {
    return {
      reason: `The Docker context "${name}" does not exist.`,
      howToStart:
        "List the contexts with `docker context ls` and choose one with `docker context use NAME` or DOCKER_CONTEXT.",
    };
  }
  const tls = await tlsMaterial(`${contexts}/tls/${folder}/docker`, docker.SkipTLSVerify !== true, files);
  const hasTls = tls.ca !== undefined || tls.cert !== undefined || docker.SkipTLSVerify === true;
  return parseDockerHost(docker.Host, { origin: `the Docker context "${name}"`, tls: hasTls ? tls : null });
}

/** The part of a context's description that is read. */
interface ContextMeta {
  readonly Endpoints?: { readonly docker?: { readonly Host?: unknown; readonly SkipTLSVerify?: unknown } };
}

async function defaultEndpoint({ environment, platform, files }: FindDockerOptions): Promise<Endpoint> {
  const origin = defaultOrigin;
  if (platform === "win32") return { kind: "socket", path: windowsPipe, origin };
  const system = "/var/run/docker.sock";
  const home = environment["HOME"];
  const runtime = environment["XDG_RUNTIME_DIR"];
  // Docker Desktop's and rootless Docker's, where the system's is missing.
  const others = [home && `${home}/.docker/run/docker.sock`, runtime && `${runtime}/docker.sock`];
  for (const path of [system, ...others]) {
    if (path && (await files.exists(path))) return { kind: "socket", path, origin };
  }
  return { kind: "socket", path: system, origin };
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : (JSON.parse(text) as unknown);
  } catch {
    // Docker's own client warns about it and also continues without it.
    return null;
  }
}
