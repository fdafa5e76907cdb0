import path from "node:path";
import { GloveboxError, errorCode } from "../errors/glovebox-error.ts";
import { blockedPatterns, isPattern } from "../policy/mounts/blocked-pattern.ts";
import { isWithin, type MountPolicy, type MountRoot, type ProtectedPlace } from "../policy/mounts/mount-policy.ts";
import type { Config } from "./config.ts";
import { passableStateFolder, type Host } from "./host/host.ts";
import { expandHome, existingPlace, realPlace, configDirectory, peerFolder } from "./host/host-paths.ts";
import { constants, type Stats } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { mebibyte } from "../base/bytes.ts";
import * as z from "zod";
import { nearest } from "../base/nearest.ts";
import { jsonErrorPosition } from "./json-error-position.ts";
import { hostPath } from "./leaf-schemas.ts";

export interface MountSources {
  readonly config: Pick<Config, "mountAllowlist" | "projectRoots" | "engineEnvironment" | "keysFile"> & {
    readonly packages: Pick<Config["packages"], "directory">;
  };
  readonly host: Pick<
    Host,
    "platform" | "uid" | "environment" | "homeDirectory" | "workingDirectory" | "stateDirectory" | "temporaryDirectory"
  >;
  /** Whether the working directory is a root if none are configured: true on the user's own machine. */
  readonly workingDirectoryIsRoot: boolean;
  /** The setting that lists folders for projects, as refusals name it. */
  readonly projectsSetting: string;
}

/** What sandboxes may get, and where that is configured. */
export interface LoadedMountPolicy {
  readonly policy: MountPolicy;
  readonly allowlist: AllowlistFile | null;
  /** Where the allowlist is looked for, in order. */
  readonly lookedFor: readonly string[];
  /** Listed folders that do not exist. */
  readonly missingRoots: readonly ListedRoot[];
  /** What the operator should know, one sentence each. */
  readonly notices: readonly string[];
}

/** A root as configured. */
export interface ListedRoot extends Omit<MountRoot, "path"> {
  readonly listedPath: string;
}

/**
 * The current mount policy: the allowlist is read each time, so an edit applies from the next request on.
 * @throws INVALID_REQUEST for a bad allowlist, for one that lies below a listed root, and for `/` as a root
 */
export async function loadMountPolicy(sources: MountSources): Promise<LoadedMountPolicy> {
  const { config, host } = sources;
  const places = allowlistPlaces(config, host);
  const allowlist = await readAllowlist(places, host);
  const listed = listedRoots(sources, allowlist);
  const real = await Promise.all(
    listed.map(async ({ listedPath, ...root }) => ({ ...root, path: await existingPlace(listedPath) })),
  );
  const roots = real
    .flatMap(({ path: realPath, ...root }) => (realPath === null ? [] : [{ ...root, path: realPath }]))
    .filter((root) => root.source !== "working_directory" || root.path !== path.parse(root.path).root);
  for (const root of roots) refuseWholeFileSystem(root);
  if (allowlist !== null) await refuseAllowlistInside(allowlist, roots);
  return {
    policy: {
      roots,
      blockedPatterns: blockedPatterns(allowlist?.content.blockedPatterns ?? []),
      protectedPlaces: await protectedPlaces(
        host,
        config,
        places.map((place) => place.path),
      ),
      nonMainReadOnly: allowlist?.content.nonMainReadOnly ?? true,
      hasAllowlist: allowlist !== null,
      projectsSetting: sources.projectsSetting,
    },
    allowlist,
    lookedFor: places.map((place) => place.path),
    missingRoots: listed.filter((_, index) => real[index]?.path === null),
    notices:
      allowlist?.origin === "fft_nano"
        ? ["There is no mount allowlist for Glovebox, so FFT_nano's is used (docs/mounts.md)."]
        : [],
  };
}

function listedRoots({ config, host, ...sources }: MountSources, allowlist: AllowlistFile | null): ListedRoot[] {
  const { homeDirectory, workingDirectory } = host;
  const allowed = (allowlist?.content.allowedRoots ?? []).map((root, index): ListedRoot => ({
    listedPath: expandHome(root.path, homeDirectory),
    source: "allowlist",
    listedAs: `allowedRoots[${index}]`,
    allowReadWrite: root.allowReadWrite,
    description: root.description,
  }));
  const writable = { allowReadWrite: true, description: null };
  if (config.projectRoots !== null) {
    const projects = config.projectRoots.map((root, index): ListedRoot => ({
      listedPath: expandHome(root, homeDirectory),
      source: "project_roots",
      listedAs: `project_roots[${index}]`,
      ...writable,
    }));
    return [...allowed, ...projects];
  }
  if (!sources.workingDirectoryIsRoot) return allowed;
  const own: ListedRoot = {
    listedPath: workingDirectory,
    source: "working_directory",
    listedAs: "the working directory",
    ...writable,
  };
  return [...allowed, own];
}

function refuseWholeFileSystem({ path: realPath, listedAs }: MountRoot): void {
  if (realPath !== path.parse(realPath).root) return;
  throw new GloveboxError("INVALID_REQUEST", `${listedAs}: the whole file system cannot be a root of mounts.`, {
    suggestion: `List the folders you need instead of ${listedAs}.`,
    context: { field: listedAs },
  });
}

/** A sandbox that could write its own allowlist could get anything. */
async function refuseAllowlistInside({ path: file, name }: AllowlistFile, roots: readonly MountRoot[]): Promise<void> {
  const standsAt = [await realPlace(path.dirname(file)), await realPlace(file)];
  const around = roots.find(
    (root) => root.source !== "working_directory" && standsAt.some((place) => isWithin(place, root.path)),
  );
  if (around === undefined) return;
  throw new GloveboxError("INVALID_REQUEST", `The ${name} lies inside ${around.listedAs}, which may be mounted.`, {
    suggestion: `Move the file out of that folder, or list folders below it instead of ${around.listedAs}.`,
    context: { field: around.listedAs },
  });
}

/** Where a mount allowlist can be. */
export interface AllowlistPlace {
  readonly path: string;
  readonly origin: "configured" | "default" | "fft_nano";
  /** Its name in messages, which show no path. */
  readonly name: string;
}

/** A mount allowlist that was read. */
interface AllowlistFile extends AllowlistPlace {
  readonly content: MountAllowlist;
}

const maxBytes = mebibyte;
/** The group's and everybody's right to write. */
const othersWrite = 0o022;

/** Where the allowlist is looked for; the first that exists is used; a configured one must exist. */
function allowlistPlaces(
  { mountAllowlist }: Pick<Config, "mountAllowlist">,
  { environment, homeDirectory }: Pick<Host, "environment" | "homeDirectory">,
): readonly AllowlistPlace[] {
  if (mountAllowlist !== null) {
    const file = expandHome(mountAllowlist, homeDirectory);
    return [{ path: file, origin: "configured", name: "mount allowlist that the configuration names" }];
  }
  const ours = path.join(configDirectory(environment, homeDirectory), "mount-allowlist.json");
  const theirs = path.join(homeDirectory, ".config", "fft_nano", "mount-allowlist.json");
  return [
    { path: ours, origin: "default", name: "mount allowlist" },
    { path: theirs, origin: "fft_nano", name: "mount allowlist of FFT_nano" },
  ];
}

/**
 * The mount allowlist in force, null when there is none.
 * @throws INVALID_REQUEST if a configured one is missing, if it cannot be read or is not valid, or if anyone but its
 * owner may change it
 */
export async function readAllowlist(
  places: readonly AllowlistPlace[],
  host: Pick<Host, "platform" | "uid">,
): Promise<AllowlistFile | null> {
  for (const place of places) {
    const text = await readText(place, host);
    if (text !== null) return { ...place, content: parseAllowlist(text, place.name) };
  }
  return null;
}

async function readText(place: AllowlistPlace, host: Pick<Host, "platform" | "uid">): Promise<string | null> {
  const { path: file, origin, name } = place;
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = errorCode(cause) || "unknown reason";
    if (origin !== "configured" && (code === "ENOENT" || code === "ENOTDIR")) return null;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw refused(`The ${name} ${problem}.`, "Correct the path or the file's permissions.", cause);
  }
  await using opened = handle;
  const found = await opened.stat();
  if (!found.isFile()) throw refused(`The ${name} is not a regular file.`, "Make it a file.");
  if (found.size > maxBytes) throw refused(`The ${name} has more than 1 MB.`, "Shorten it.");
  if (host.platform !== "win32") refuseForeign(name, found, await stat(path.dirname(file)), host.uid);
  return await opened.readFile("utf8");
}

/** Anyone who can change the list decides what sandboxes get. */
function refuseForeign(name: string, file: Stats, folder: Stats, uid: number | null): void {
  if (file.uid !== 0 && file.uid !== uid) {
    throw refused(`The ${name} belongs to another user.`, "Change its owner (chown).");
  }
  if ((file.mode & othersWrite) !== 0) throw writable(`The ${name}`, "the file");
  const isSticky = (folder.mode & 0o1000) !== 0;
  if ((folder.mode & othersWrite) !== 0 && !isSticky) throw writable(`The folder of the ${name}`, "that folder");
}

function writable(what: string, short: string): GloveboxError {
  return refused(`${what} can be changed by other users.`, `Remove their access: chmod go-w on ${short}.`);
}

function refused(message: string, suggestion: string, cause?: unknown): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", message, { suggestion, cause });
}

/**
 * The mount allowlist in a file's text.
 * @throws INVALID_REQUEST naming line and column of what is not JSON, else every bad or unknown field
 */
export function parseAllowlist(text: string, name: string): MountAllowlist {
  const parsed = allowlistSchema.safeParse(parseJson(text.replace(/^\ufeff/, ""), name));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  throw new GloveboxError("INVALID_REQUEST", `The ${name} is not valid: ${problems.join("; ")}.`, {
    suggestion: "Correct the named fields; docs/mounts.md describes them all.",
    context: { problems },
  });
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    throw new GloveboxError("INVALID_REQUEST", `The ${name} is not JSON: error at line ${line}, column ${column}.`, {
      suggestion: "Correct the file there; JSON knows no comments and no comma after the last entry.",
      context: { line, column },
      cause,
    });
  }
}

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  const field = issue.path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : before ? `${before}.${String(part)}` : String(part),
    "",
  );
  if (issue.code !== "unrecognized_keys") return [`${field || "the file"}: expected ${issue.message}`];
  const known = ["allowedRoots", "blockedPatterns", "nonMainReadOnly", "path", "allowReadWrite", "description"];
  return issue.keys.map((key) => {
    const meant = nearest(key, known);
    const where = field === "" ? key : `${field}.${key}`;
    return `${where}: unknown field${meant === null ? "" : ` (did you mean ${meant}?)`}`;
  });
}

const flag = z.boolean("true or false");

/** The mount allowlist as written in its file; each message is a phrase that follows "expected". */
const allowlistSchema = z.strictObject(
  {
    allowedRoots: z
      .array(
        z.strictObject(
          {
            path: hostPath(),
            allowReadWrite: flag.default(false),
            description: z.string("text").nullable().default(null),
          },
          "an object with path, allowReadWrite and description",
        ),
        "a list of folders",
      )
      .max(1000, "at most 1000 folders"),
    blockedPatterns: z
      .array(z.string("text").refine(isPattern, "a name, or names with slashes between them"), "a list of names")
      .max(1000, "at most 1000 names")
      .default([]),
    nonMainReadOnly: flag.default(true),
  },
  "an object with allowedRoots, blockedPatterns and nonMainReadOnly",
);

/** A mount allowlist with its defaults: nothing is writable unless it says so. */
type MountAllowlist = z.output<typeof allowlistSchema>;

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
async function protectedPlaces(
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
