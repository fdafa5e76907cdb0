import { parseAddress, type FileReader } from "../docker-api/http/client-settings.ts";
import type { Endpoint } from "../docker-api/http/endpoint.ts";
import { unavailableError, type ConnectFailure, type Unavailability } from "../unavailability.ts";

export interface FindPodmanOptions {
  /** `CONTAINER_HOST`, `XDG_RUNTIME_DIR`, `HOME` and `TMPDIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Null where the system has none. */
  readonly uid: number | null;
  readonly files: Pick<FileReader, "exists">;
}

/** `Endpoint.origin` of what no setting named. */
const defaultOrigin = "the default socket";

const rootfulSocket = "/run/podman/podman.sock";
const machineName = "podman-machine-default";

/**
 * Where Podman's service is: `CONTAINER_HOST`, else the first socket there is of those that Podman makes by default.
 * @throws ENGINE_UNAVAILABLE when the setting makes no sense
 */
export async function findPodmanEndpoint(options: FindPodmanOptions): Promise<Endpoint> {
  const { environment, files } = options;
  const host = environment["CONTAINER_HOST"] ?? "";
  if (host !== "") return addressed(host);
  const places = defaultSockets(options);
  for (const path of places) if (await files.exists(path)) return { kind: "socket", path, origin: defaultOrigin };
  return { kind: "socket", path: places[0] ?? rootfulSocket, origin: defaultOrigin };
}

/** Whose service is looked for, which decides how it is started. */
interface PodmanUser {
  readonly platform: NodeJS.Platform;
  readonly uid: number | null;
}

/** Why Podman's service cannot be reached and what to do about it on this platform. */
export function explainPodmanFailure(failure: ConnectFailure, user: PodmanUser): Unavailability {
  return { reason: reason(failure), howToStart: howToStart(failure, user) };
}

function reason({ code, origin, kind }: ConnectFailure): string {
  switch (code) {
    case "ENOENT":
      return `Podman's service is not running or not installed: ${origin} does not exist.`;
    case "ECONNREFUSED":
      return `Podman's service is not running: nothing answers on ${origin}.`;
    case "EACCES":
    case "EPERM":
      return `This user cannot use Podman's service: access to ${origin} is denied.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Podman's service cannot be reached: the host named by ${origin} is unknown.`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `Podman's service cannot be reached: the host named by ${origin} does not answer.`;
    default:
      if (code.startsWith("HTTP_")) return `What answers on ${origin} is not Podman 4 or newer.`;
      return kind === "socket"
        ? `Podman's service closed the connection on ${origin}.`
        : `Podman's service cannot be used: the connection to ${origin} broke off.`;
  }
}

function howToStart({ code, kind, origin }: ConnectFailure, user: PodmanUser): string {
  if (kind === "tcp" || code.startsWith("HTTP_")) {
    return `Check ${origin} and that Podman's service is started there (\`podman system service --time 0 ADDRESS\`).`;
  }
  const start = howToStartHere(code, user);
  return origin === defaultOrigin ? start : `${start} Or correct ${origin}.`;
}

function howToStartHere(code: string, { platform, uid }: PodmanUser): string {
  if (platform === "darwin") {
    return "Start its machine: `podman machine start` (the first time `podman machine init`); to install it: `brew install podman`.";
  }
  if (platform === "win32") {
    return "Start its machine: `podman machine start` (the first time `podman machine init`); to install it: `winget install RedHat.Podman`.";
  }
  const isDenied = code === "EACCES" || code === "EPERM";
  const start =
    uid === 0
      ? "Start it: `systemctl start podman.socket` (without systemd: `podman system service --time 0 &`)."
      : "Start it: `systemctl --user start podman.socket` (without systemd: `podman system service --time 0 &`).";
  if (isDenied) return `Use a service of this user's own. ${start}`;
  return code === "ENOENT" ? `${start} To install it: \`sudo apt-get install podman\` or podman.io.` : start;
}

function addressed(host: string): Endpoint {
  const found = parseAddress(host, {
    origin: "CONTAINER_HOST",
    tls: null,
    title: "Podman",
    variable: "CONTAINER_HOST",
    socketPath: rootfulSocket,
    // Podman has no convention; its manual's examples use this one.
    ports: { plain: 8080, tls: 8080 },
    // Nor could a service on another machine be given the seccomp profile.
    overSsh: false,
  });
  if ("reason" in found) throw unavailableError("podman", found);
  return found;
}

/** The best first: what Podman's own client of this user would use. */
function defaultSockets({ environment, platform, uid }: FindPodmanOptions): readonly string[] {
  if (platform === "win32") return [`//./pipe/${machineName}`];
  const home = environment["HOME"] ?? "";
  if (platform === "darwin") {
    const machines = `${home}/.local/share/containers/podman/machine`;
    return [
      // Podman 5, then 4, whose places depend on the kind of machine.
      `${(environment["TMPDIR"] ?? "/tmp").replace(/\/$/, "")}/podman/${machineName}-api.sock`,
      ...["", "qemu/", "applehv/", `${machineName}/`].map((folder) => `${machines}/${folder}podman.sock`),
    ];
  }
  if (uid === 0) return [rootfulSocket];
  const runtime = environment["XDG_RUNTIME_DIR"] || `/run/user/${uid}`;
  return [`${runtime}/podman/podman.sock`, rootfulSocket];
}
