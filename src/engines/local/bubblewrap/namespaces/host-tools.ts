import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { GloveboxError } from "../../../../errors/glovebox-error.ts";

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
  if (missing.length > 0) throw missingTools(missing);
  return Object.fromEntries(found) as unknown as HostTools;
}

function missingTools(missing: readonly (keyof HostTools)[]): GloveboxError {
  const wanted = [...new Set(missing.map((name) => packages[name]))].join(" ");
  return new GloveboxError(
    "ENGINE_UNAVAILABLE",
    `The embedded engine needs ${missing.join(", ")}, which this host does not have.`,
    {
      suggestion: `Install it: apt-get install ${wanted} (Debian, Ubuntu), dnf install ${wanted} (Fedora), apk add ${wanted} (Alpine).`,
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
