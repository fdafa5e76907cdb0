import path from "node:path";
import type { ProtectedPlace } from "../../policy/mounts/mount-policy.ts";
import { configDirectory } from "../host/config-directory.ts";
import type { Config } from "../config.ts";
import { peerFolder } from "../host/peer-folder.ts";
import { passableStateFolder, type Host } from "../host/host.ts";
import { expandHome } from "./expand-home.ts";
import { existingPlace, realPlace } from "./real-place.ts";

type Surroundings = Pick<Host, "environment" | "homeDirectory" | "stateDirectory" | "temporaryDirectory" | "uid">;

/** System folders that no sandbox gets, even if they are listed. */
export const systemPlaces: readonly (readonly [path: string, what: string])[] = [
  ["/proc", "the kernel's own files"],
  ["/sys", "the kernel's own files"],
  ["/dev/null", "the devices"],
  ["/dev/pts", "the devices"],
  ["/etc/shadow", "the system's passwords"],
  ["/var/lib/docker", "the storage of a container engine"],
  ["/var/lib/containers", "the storage of a container engine"],
  ["/var/lib/containerd", "the storage of a container engine"],
  ["/var/lib/kubelet", "the storage of a container engine"],
];

const engineSockets: readonly string[] = [
  ...["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"],
  ...["/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/k3s/containerd/containerd.sock"],
];

/** Sockets of engines that a user runs, below the folder for the user's sockets. */
const userSockets: readonly string[] = ["docker.sock", "podman/podman.sock", "containerd-rootless", "buildkit"];

/** What contains secrets in a home directory; a folder that contains one of these is never mounted. */
export const homePlaces: readonly string[] = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers", ".netrc"],
  ...[".git-credentials", ".config/gh", ".npmrc", ".pypirc", ".pgpass", ".password-store", ".local/share/keyrings"],
  ...[".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", "Library/Keychains", "Library/Cookies"],
  ...["Library/Mail", "Library/Safari", "AppData/Roaming/Microsoft/Credentials"],
];

/**
 * What no sandbox may access on this machine (SPEC MO6): Glovebox's own files, whether or not they exist; of the rest,
 * those that exist.
 */
export async function protectedPlaces(
  host: Surroundings,
  {
    engineEnvironment,
    packages,
    keysFile,
  }: Pick<Config, "engineEnvironment" | "keysFile"> & { readonly packages: Pick<Config["packages"], "directory"> },
  allowlists: readonly string[],
): Promise<readonly ProtectedPlace[]> {
  const { environment, homeDirectory, stateDirectory } = host;
  const own: [string, string][] = [
    ...allowlists.map((file): [string, string] => [file, "the mount allowlist"]),
    [configDirectory(environment, homeDirectory), "the configuration of Glovebox"],
    ...[environment["GLOVEBOX_CONFIG"] ?? ""]
      .filter(Boolean)
      .map((file): [string, string] => [path.resolve(file), "the configuration of Glovebox"]),
    ...(keysFile === null ? [] : [[expandHome(keysFile, homeDirectory), "the API keys"] satisfies [string, string]]),
    [stateDirectory, "the records of Glovebox"],
    [passableStateFolder, "the folders of programs at level preload"],
    [peerFolder(host), "the way into the sandboxes of Glovebox"],
    [expandHome(packages.directory, homeDirectory), "the installed packages of Glovebox"],
  ];
  const others: [string, string][] = [
    ...systemPlaces.map(([place, what]): [string, string] => [place, what]),
    ...sockets(host, engineEnvironment).map((place): [string, string] => [place, "a container engine's socket"]),
    ...homePlaces.map((name): [string, string] => [path.join(homeDirectory, name), `${name} of the home directory`]),
  ];
  const [ownPlaces, otherPlaces] = await Promise.all([
    Promise.all(own.map(async ([place, what]) => (await bothEnds(place)).map((path) => ({ path, what })))),
    Promise.all(others.map(async ([place, what]) => ({ path: await existingPlace(place), what }))),
  ]);
  const found = [
    ...ownPlaces.flat(),
    ...otherPlaces.flatMap(({ path, what }) => (path === null ? [] : [{ path, what }])),
  ];
  return found.filter(({ path }, index) => found.findIndex((other) => other.path === path) === index);
}

/** The path itself and what it resolves to: changing either changes what is read there. */
async function bothEnds(place: string): Promise<readonly string[]> {
  return [path.join(await realPlace(path.dirname(place)), path.basename(place)), await realPlace(place)];
}

function sockets({ uid }: Surroundings, engineEnvironment: Config["engineEnvironment"]): readonly string[] {
  const runtimeFolders = [engineEnvironment["XDG_RUNTIME_DIR"] ?? "", uid === null ? "" : `/run/user/${uid}`];
  const named = [engineEnvironment["DOCKER_HOST"], engineEnvironment["CONTAINER_HOST"]];
  return [
    ...engineSockets,
    ...runtimeFolders
      .filter((folder) => path.isAbsolute(folder))
      .flatMap((folder) => userSockets.map((name) => path.join(folder, name))),
    ...named.flatMap((url) => /^unix:\/\/(\/.+)$/.exec(url ?? "")?.[1] ?? []),
  ];
}
