import type { FileReader } from "../docker-api/http/client-files.ts";
import type { Endpoint } from "../docker-api/http/endpoint.ts";
import { parseAddress } from "../docker-api/http/parse-address.ts";
import { unavailableError } from "../docker-api/http/unavailability.ts";

export interface FindPodmanOptions {
  /** `CONTAINER_HOST`, `XDG_RUNTIME_DIR`, `HOME` and `TMPDIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Null where the system has none. */
  readonly uid: number | null;
  readonly files: Pick<FileReader, "exists">;
}

/** `Endpoint.origin` of what no setting named. */
export const defaultOrigin = "the default socket";

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
