import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { HostFolder } from "../../base/host-folder.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { errorCode } from "../../errors/glovebox-error.ts";

/** Of one file: more than settings and sources of common size have. */
const maxBytes = 256 * 1024;

/**
 * A plain file's text, at most 256 KiB unless said otherwise; empty where it is missing, a link, too large or not readable:
 * it says nothing about the project.
 */
export async function readOwnText(folder: HostFolder, name: string, max: number = maxBytes): Promise<string> {
  const bytes = await readPlainBytes(folder, name, max).catch(() => "closed" as const);
  return typeof bytes === "string" ? "" : Buffer.from(bytes).toString("utf8");
}

/** What `package.json` says about starting and testing a project; empty where it says nothing. */
interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  /** Names of packages that it depends on, also for development. */
  readonly dependencies: readonly string[];
}

/** Reads the text of a `package.json`, whatever is in it. */
export function readManifest(text: string): Manifest {
  const { scripts, dependencies, devDependencies } = fieldsOf(parsed(text));
  const lines = Object.entries(fieldsOf(scripts)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].trim() !== "",
  );
  return {
    scripts: Object.fromEntries(lines),
    dependencies: [...Object.keys(fieldsOf(dependencies)), ...Object.keys(fieldsOf(devDependencies))],
  };
}

/** How the project's package manager runs a script: `npm run`, by the lockfile among the names. */
export function scriptRunner(names: readonly string[]): string {
  if (names.some((name) => /^bun\.lockb?$/.test(name))) return "bun run";
  if (names.includes("pnpm-lock.yaml")) return "pnpm run";
  return names.includes("yarn.lock") ? "yarn run" : "npm run";
}

/** What a project's own files say about it. */
export interface ReadProject {
  /** Of what stands in its folder. */
  readonly names: readonly string[];
  /** Text of `package.json`, empty where it is no plain file of a common size. */
  readonly manifest: string;
}

const maxManifestBytes = 1024 * 1024;

/** Looks at the folder of a project: names, and `package.json`. @throws NOT_FOUND, PERMISSION_DENIED */
export async function readProject(
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<ReadProject> {
  await using folder = await HostFolder.of(project, platform);
  const names = await onHost(".", readdir(folder.self));
  return {
    names,
    manifest: names.includes("package.json") ? await readOwnText(folder, "package.json", maxManifestBytes) : "",
  };
}

/** Errors of a name that is no plain file: a folder, a link, a socket or the like. */
const others: ReadonlySet<string> = new Set(["ELOOP", "ENXIO", "EISDIR", "ENOTDIR"]);

/** The bytes of a plain file in a folder; or `none` of that name, `other`: no plain file, `large`, `closed` to us. */
export async function readPlainBytes(
  folder: HostFolder,
  name: string,
  maxBytes: number,
): Promise<Uint8Array | "none" | "other" | "large" | "closed"> {
  try {
    // Neither a FIFO nor a lease makes the opening wait.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using file = await open(folder.at(name), flags);
    if (!(await file.stat()).isFile()) return "other";
    return (await readBounded(file, maxBytes)) ?? "large";
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return "none";
    if (others.has(code)) return "other";
    if (["EACCES", "EPERM", "EAGAIN"].includes(code)) return "closed";
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
