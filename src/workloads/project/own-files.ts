import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { HostFolder } from "../../base/host-folder.ts";
import { readBounded } from "../../sandbox/mounts/read-bounded.ts";

/** Of one file: more than settings and sources of common size have. */
const maxBytes = 256 * 1024;

/**
 * A plain file's text, at most 256 KiB unless said otherwise; empty where it is missing, a link, too large or not readable:
 * it says nothing about the project.
 */
export async function readOwnText(folder: HostFolder, name: string, max: number = maxBytes): Promise<string> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  try {
    await using file = await open(folder.at(name), flags);
    const bytes = (await file.stat()).isFile() ? await readBounded(file, max) : null;
    return bytes === null ? "" : Buffer.from(bytes).toString("utf8");
  } catch {
    return "";
  }
}

/** What `package.json` says about starting and testing a project; empty where it says nothing. */
export interface Manifest {
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
