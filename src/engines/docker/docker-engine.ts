import { clientFiles, parseAddress, type FileReader } from "../docker-api/http/client-settings.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import type { Engine } from "../engine.ts";
import type { ScratchSpec } from "../container-spec.ts";
import { containerConfig, type ConfigWording } from "../docker-api/container/container-config.ts";
import type { Dialect, EngineAccount, VersionAnswer } from "../docker-api/dialect.ts";
import { unavailableError, type Unavailability, type ConnectFailure } from "../unavailability.ts";
import { createHash } from "node:crypto";
import type { Endpoint, TlsMaterial } from "../docker-api/http/endpoint.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface FindDockerOptions {
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  readonly files: FileReader;
}

/** `Endpoint.origin` of an endpoint that no setting named. */
const defaultOrigin = "the default socket";

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
function clientFolder(environment: Environment): string {
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

/**
 * The endpoint that an address names, or why it cannot be used (`parseAddress`). `tls` null: plain, but for `https://`.
 */
export function parseDockerHost(
  address: string,
  { origin, tls }: { readonly origin: string; readonly tls: TlsMaterial | null },
): Endpoint | Unavailability {
  return parseAddress(address, {
    origin,
    tls,
    title: "Docker",
    variable: "DOCKER_HOST",
    socketPath: "/var/run/docker.sock",
    // Docker's own convention.
    ports: { plain: 2375, tls: 2376 },
    overSsh: true,
  });
}

/** Why Docker cannot be reached and what to do about it on this platform. */
export function explainDockerFailure(failure: ConnectFailure, platform: NodeJS.Platform): Unavailability {
  if (failure.kind === "ssh") return explainSshFailure(failure);
  return { reason: reason(failure), howToStart: howToStart(failure, platform) };
}

function reason({ code, origin, kind }: ConnectFailure): string {
  switch (code) {
    case "ENOENT":
      return `Docker is not running or not installed: ${origin} does not exist.`;
    case "ECONNREFUSED":
      return `Docker is not running: nothing answers on ${origin}.`;
    case "EACCES":
    case "EPERM":
      return `This user cannot use Docker: access to ${origin} is denied.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Docker cannot be reached: the host named by ${origin} is unknown.`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `Docker cannot be reached: the host named by ${origin} does not answer.`;
    default:
      if (code.startsWith("HTTP_")) return `What answers on ${origin} is not Docker, or wants TLS.`;
      if (isTlsCode(code)) return `Docker cannot be reached: TLS with ${origin} failed (${code}).`;
      return kind === "socket"
        ? `Docker closed the connection on ${origin}.`
        : `Docker cannot be used: the connection to ${origin} broke off.`;
  }
}

function isTlsCode(code: string): boolean {
  return /CERT|TLS|SSL|UNABLE_TO|SIGNATURE|EPROTO/.test(code);
}

function howToStart(failure: ConnectFailure, platform: NodeJS.Platform): string {
  const { code, kind, origin } = failure;
  if (code.startsWith("HTTP_")) return `Check ${origin}, and set DOCKER_TLS_VERIFY=1 when the engine wants TLS.`;
  if (isTlsCode(code)) {
    return "Check DOCKER_TLS_VERIFY and the files ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH, or the context's.";
  }
  if (kind === "tcp") return `Check ${origin} and that the Docker Engine on that host is started.`;
  const start = howToStartHere(code, platform);
  return origin === defaultOrigin ? start : `${start} Or correct ${origin}.`;
}

function howToStartHere(code: string, platform: NodeJS.Platform): string {
  if (platform === "darwin")
    return "Start Docker Desktop (`open -a Docker`); to install it: `brew install --cask docker`.";
  if (platform === "win32") {
    return "Start Docker Desktop from the Start menu; to install it: `winget install Docker.DockerDesktop`.";
  }
  if (code === "EACCES" || code === "EPERM") {
    return "Add the user to the group: `sudo usermod -aG docker $USER`, then log in again.";
  }
  const start = "Start it: `sudo systemctl start docker` (without systemd: `sudo dockerd &`).";
  return code === "ENOENT"
    ? `${start} To install it: \`sudo apt-get install docker.io\` or docs.docker.com/engine/install.`
    : start;
}

/** Why Docker on the host that an `ssh://` address names cannot be reached, and what to do about it. */
function explainSshFailure({ code, origin, detail = "" }: ConnectFailure): Unavailability {
  const host = `the host named by ${origin}`;
  const words = detail === "" ? "" : ` (${detail})`;
  switch (code) {
    case "SSH_MISSING":
      return {
        reason: `Docker cannot be reached: ${origin} needs the program ssh, which is not installed.`,
        howToStart: "Install OpenSSH's client (`sudo apt-get install openssh-client`) and see that ssh is on the PATH.",
      };
    case "SSH_HOST_KEY":
      return {
        reason: `Docker cannot be reached: the key of ${host} is unknown or has changed.`,
        howToStart: "Connect once by hand with `ssh HOST`, compare the key that it shows, accept it, and retry.",
      };
    case "SSH_DENIED":
      return {
        reason: `Docker cannot be reached: ${host} refuses this user${words}.`,
        howToStart:
          "Nothing prompts for passwords: use a key without one, or an ssh agent that holds it, until `ssh -o BatchMode=yes HOST true` succeeds.",
      };
    case "SSH_NO_DOCKER":
      return {
        reason: `Docker cannot be reached: ${host} has no docker command for this user${words}.`,
        howToStart: "Install Docker there, 18.09 or newer, until `ssh HOST docker system dial-stdio` finds it.",
      };
    case "SSH_ENGINE":
      return {
        reason: `Docker does not answer on ${host}${words}.`,
        howToStart:
          "Start Docker there (`sudo systemctl start docker`), and allow the user (`sudo usermod -aG docker USER`), until `ssh HOST docker version` succeeds.",
      };
    case "ENOTFOUND":
      return {
        reason: `Docker cannot be reached: ${host} is unknown.`,
        howToStart: `Check ${origin} and the configuration of ssh.`,
      };
    case "ECONNREFUSED":
    case "ETIMEDOUT":
      return {
        reason: `Docker cannot be reached: ${host} does not answer.`,
        howToStart: `Check ${origin}, and that an SSH server runs there: \`ssh HOST true\`.`,
      };
    default:
      return {
        reason: code.startsWith("HTTP_")
          ? `What answers on ${host} is not Docker.`
          : `Docker cannot be used: the connection to ${host} over SSH broke off${words}.`,
        howToStart: `Check ${origin} with \`ssh -o BatchMode=yes HOST docker version\`.`,
      };
  }
}

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

/** Docker's wording of a container's options. */
export const dockerWording: ConfigWording = {
  seccompOption: (profile) => `seccomp=${JSON.stringify(profile)}`,
  tmpfsOptions,
  hiddenVolumeOptions: "ro,noexec,nosuid,nodev,size=4096",
};

/** What is Docker's own in the API that other engines imitate. */
export const dockerDialect: Dialect = {
  name: "docker",
  title: "Docker",
  createCall: async (spec, circumstances) => ({
    path: "/containers/create",
    query: { name: spec.name },
    body: containerConfig(spec, { wording: dockerWording, ...circumstances }),
  }),
  examine: async (describe) => {
    const [version, machine] = await Promise.all([
      describe<EngineAccount["version"]>("/version"),
      describe<EngineAccount["machine"]>("/info"),
    ]);
    return { version, machine };
  },
  runtimes: ({ Runtimes }) => Object.keys(Runtimes ?? {}),
  howToAddRuntime: "Others are named in the `runtimes` of Docker's daemon.json.",
  namesLocalBuilds: false,
  pullsAnonymously: true,
  mountsByHandle: true,
  deniesOom: true,
  isNotRunning: (status) => status === 409,
  version: (answer) => answer.Version ?? "unknown",
  foreignness,
};

const pageBytes = 4096;
const minFiles = 1024;

/** A folder writable for every user inside; a file for each page, so that empty files are bounded too. */
function tmpfsOptions({ sizeBytes }: ScratchSpec): string {
  const files = Math.max(minFiles, Math.floor(sizeBytes / pageBytes));
  return `rw,exec,nosuid,nodev,mode=1777,size=${sizeBytes},nr_inodes=${files},uid=0,gid=0`;
}

function foreignness({ Os, Components }: VersionAnswer): Unavailability | null {
  if (Components?.some((component) => component.Name?.startsWith("Podman"))) {
    return {
      reason: "Podman answers on Docker's endpoint.",
      howToStart: "Choose the engine podman, or point DOCKER_HOST at a Docker Engine.",
    };
  }
  if (Os !== undefined && Os !== "linux") {
    return {
      reason: `Docker runs ${Os} containers; Glovebox needs Linux containers.`,
      howToStart: "Switch Docker Desktop to Linux containers.",
    };
  }
  return null;
}
