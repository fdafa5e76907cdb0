import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** Programs of the host that set up a sandbox, by absolute path. */
export interface HostTools {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly prlimit: string;
  readonly setpriv: string;
  readonly unshare: string;
}

/** The package that brings each. */
const packages = {
  bwrap: "bubblewrap",
  nsenter: "util-linux",
  prlimit: "util-linux",
  setpriv: "util-linux",
  unshare: "util-linux",
} as const satisfies Record<keyof HostTools, string>;

/** PATH of everything that the engine runs on the host. */
export const hostPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Finds the tools, in the system's own folders before the PATH's.
 * @throws ENGINE_UNAVAILABLE naming what is missing and the packages that bring it
 */
export function findHostTools(path: string | undefined): HostTools {
  const folders = [...hostPath.split(":"), ...(path ?? "").split(":").filter((folder) => folder.startsWith("/"))];
  const find = (name: string): string | undefined => folders.map((folder) => join(folder, name)).find(isExecutable);
  const found = Object.keys(packages).map((name) => [name, find(name)] as const);
  const missing = found.filter(([, file]) => file === undefined).map(([name]) => name as keyof HostTools);
  if (missing.length > 0) throw missingTools(missing, (name) => find(name) !== undefined);
  return Object.fromEntries(found) as unknown as HostTools;
}

/** What installs packages on the common systems; each of them has only its own. */
const installers = ["apt-get install", "dnf install", "apk add", "zypper install", "pacman -S"] as const;

/**
 * What a person types to install packages on this system; where it has no known package manager, their names.
 * @param has whether the host has a program
 */
export function installLine(wanted: string, has: (program: string) => boolean): string {
  const installer = installers.find((each) => has(each.split(" ", 1)[0] ?? ""));
  const words = wanted.includes(" ") ? `the packages ${wanted}` : `the package ${wanted}`;
  return installer === undefined ? `Install ${words}.` : `\`${has("sudo") ? "sudo " : ""}${installer} ${wanted}\``;
}

function missingTools(missing: readonly (keyof HostTools)[], has: (program: string) => boolean): GloveboxError {
  const wanted = [...new Set(missing.map((name) => packages[name]))].join(" ");
  return new GloveboxError(
    "ENGINE_UNAVAILABLE",
    `The embedded engine needs ${missing.join(", ")}, which this host does not have.`,
    {
      suggestion: installLine(wanted, has),
      context: { missing },
    },
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
