import { CommandError } from "../output/command-error.ts";
import { isAtLeast } from "../parser/version.ts";
import type { ParsedOptions } from "../parser/parsed-options.ts";
import { readCapability } from "./capabilities.ts";
import { mergeEnvironment, readEnvironment } from "./environment.ts";
import { readLabels } from "./labels.ts";
import { readNetworks, type NetworkRequest } from "./networks.ts";
import { readPorts, type PublishedPort } from "./ports.ts";
import { mebibyte, readSize } from "./sizes.ts";
import { readUlimits, type Rlimit } from "./ulimits.ts";
import { readMount, readVolume, type Mount, type MountPlaces } from "./volumes.ts";

/** What the stand-in has to know about an image to make a container from it. */
export interface ImageFacts {
  /** Full reference, such as `docker.io/library/alpine:latest`. */
  readonly reference: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly environment: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly workingDirectory: string;
  readonly user: string;
  readonly stopSignal: string | undefined;
}

/** A container as requested; kept on Docker as a label, and printed by `list` and `inspect`. */
export interface Configuration {
  readonly id: string;
  readonly createdMs: number;
  readonly image: { readonly reference: string; readonly digest: string; readonly sizeBytes: number };
  readonly argv: readonly string[];
  readonly environment: readonly string[];
  readonly workingDirectory: string;
  /** `name|uid[:gid]` as given, or both numbers. */
  readonly user: string;
  /** Whether the user is known as two numbers. */
  readonly isUserById: boolean;
  readonly supplementalGroups: readonly number[];
  readonly terminal: boolean;
  readonly interactive: boolean;
  readonly rlimits: readonly Rlimit[];
  readonly capAdd: readonly string[];
  readonly capDrop: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly networks: readonly NetworkRequest[];
  readonly ports: readonly PublishedPort[];
  readonly dns: Dns | null;
  readonly platform: { readonly os: string; readonly architecture: string };
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly sharedMemoryBytes: number | undefined;
  readonly readOnly: boolean;
  readonly init: boolean;
  readonly remove: boolean;
  readonly ssh: boolean;
  readonly virtualization: boolean;
  readonly rosetta: boolean;
  readonly stopSignal: string | undefined;
  readonly maskedPaths: readonly string[] | undefined;
  readonly readOnlyPaths: readonly string[] | undefined;
}

export interface Dns {
  readonly nameservers: readonly string[];
  readonly domain: string | undefined;
  readonly searchDomains: readonly string[];
  readonly options: readonly string[];
}

/** What does not come from the arguments of the call. */
export interface Surroundings extends MountPlaces {
  readonly version: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly now: number;
}

const defaultCpus = 4;
const defaultMemoryBytes = 1024 * mebibyte;
const minMemoryBytes = 200 * mebibyte;

/** Memory in whole MiB. */
function readMemory(options: ParsedOptions, version: string): number {
  const text = options.one("memory");
  const bytes = text === undefined ? defaultMemoryBytes : Math.floor(readSize(text) / mebibyte) * mebibyte;
  if (bytes >= minMemoryBytes || !isAtLeast(version, "0.10.0")) return bytes;
  throw new CommandError("invalidArgument", `minimum memory amount allowed is 200 MiB (got ${bytes} bytes)`);
}

function readArgv(options: ParsedOptions, image: ImageFacts): readonly string[] {
  const words = options.arguments.slice(1);
  const entrypoint = options.one("entrypoint") ?? "";
  const argv =
    entrypoint === "" ? [...image.entrypoint, ...(words.length > 0 ? words : image.command)] : [entrypoint, ...words];
  if (argv.length > 0) return argv;
  throw new CommandError("invalidArgument", "command/entrypoint not specified for container process");
}

/** User and groups of a process; `initial` is the default. */
export function readUser(
  options: ParsedOptions,
  initial: string,
): Pick<Configuration, "user" | "isUserById" | "supplementalGroups"> {
  const [user, uid, gid] = [options.one("user"), options.one("uid"), options.one("gid")];
  if (user !== undefined) return { user, isUserById: false, supplementalGroups: [] };
  if (uid !== undefined && gid !== undefined)
    return { user: `${uid}:${gid}`, isUserById: true, supplementalGroups: [] };
  if (uid !== undefined) return { user: uid, isUserById: false, supplementalGroups: [] };
  return {
    user: initial === "" ? "0:0" : initial,
    isUserById: initial === "",
    supplementalGroups: gid === undefined ? [] : [Number(gid)],
  };
}

function readDns(options: ParsedOptions): Dns | null {
  if (options.has("no-dns")) return null;
  return {
    nameservers: options.all("dns"),
    domain: options.one("dns-domain"),
    searchDomains: options.all("dns-search"),
    options: options.all("dns-option"),
  };
}

function readPlatform(options: ParsedOptions, variables: Surroundings["variables"]): Configuration["platform"] {
  const text = options.one("platform") ?? variables["CONTAINER_DEFAULT_PLATFORM"];
  if (text === undefined) return { os: options.one("os") ?? "linux", architecture: options.one("arch") ?? "arm64" };
  const [os = "", architecture = "", ...more] = text.split("/");
  const isKnown = os === "linux" && ["arm64", "amd64"].includes(architecture) && more.length < 2;
  if (!isKnown) throw new CommandError("unsupported", `platform ${text}`);
  return { os, architecture };
}

function readMounts(options: ParsedOptions, surroundings: Surroundings): readonly Mount[] {
  const tmpfs = options
    .all("tmpfs")
    .map((destination) => ({ kind: "tmpfs", source: "tmpfs", destination, options: [] }) as const);
  const volumes = options.all("volume").map((text) => readVolume(text, surroundings));
  return [...tmpfs, ...volumes, ...options.all("mount").map((text) => readMount(text, surroundings))];
}

/** Builds the configuration from the arguments of `run` and `create`. */
export function readConfiguration(
  id: string,
  options: ParsedOptions,
  image: ImageFacts,
  surroundings: Surroundings,
): Configuration {
  const { version, variables } = surroundings;
  const given = readEnvironment(options.all("env"), options.all("env-file"), variables);
  const sharedMemory = options.one("shm-size");
  return {
    id,
    createdMs: surroundings.now,
    image: { reference: image.reference, digest: image.digest, sizeBytes: image.sizeBytes },
    argv: readArgv(options, image),
    environment: mergeEnvironment(image.environment, given),
    workingDirectory: options.one("workdir") ?? (image.workingDirectory === "" ? "/" : image.workingDirectory),
    ...readUser(options, image.user),
    terminal: options.has("tty"),
    interactive: options.has("interactive"),
    rlimits: readUlimits(options.all("ulimit")),
    capAdd: options.all("cap-add").map(readCapability),
    capDrop: options.all("cap-drop").map(readCapability),
    labels: readLabels(options.all("label")),
    mounts: readMounts(options, surroundings),
    networks: readNetworks(options.all("network")),
    ports: readPorts(options.all("publish")),
    dns: readDns(options),
    platform: readPlatform(options, variables),
    cpus: options.number("cpus") ?? defaultCpus,
    memoryBytes: readMemory(options, version),
    sharedMemoryBytes: sharedMemory === undefined ? undefined : readSize(sharedMemory),
    readOnly: options.has("read-only"),
    init: options.has("init"),
    remove: options.has("rm"),
    ssh: options.has("ssh"),
    virtualization: options.has("virtualization"),
    rosetta: options.has("rosetta"),
    stopSignal: image.stopSignal,
    maskedPaths: readPaths(options.all("masked-path")),
    readOnlyPaths: readPaths(options.all("read-only-path")),
  };
}

/** Paths that replace those of the runtime; NONE means no paths at all. */
function readPaths(paths: readonly string[]): readonly string[] | undefined {
  if (paths.length === 0) return undefined;
  for (const path of paths) {
    if (path !== "NONE" && !path.startsWith("/"))
      throw new CommandError("invalidArgument", `path must be absolute: ${path}`);
  }
  return paths.filter((path) => path !== "NONE");
}
