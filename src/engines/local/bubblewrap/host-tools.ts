import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { cancelled, throwIfCancelled } from "../../../base/abort.ts";

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

interface SetupProcess {
  readonly file: string;
  readonly args: readonly string[];
  /** Descriptors handed down as 3, 4 and so on. */
  readonly descriptors?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** Set-up takes milliseconds. */
const setupWithinMs = 30_000;

/**
 * End of every set-up script: reports that everything is done, and stays until the waiting side has taken what it
 * needs.
 */
export const setupEnd = "\necho ready\nread -r _ || :\n";

/**
 * Runs a set-up script of ours and calls `take` with its process id when it has done its work and before it ends.
 * It waits on its input, so it ends with this process, whatever happens; it is killed when it takes longer than
 * `setupWithinMs`. Killing it takes along every process that it started.
 * @throws Error with what the script wrote on stderr, CANCELLED
 */
export async function withSetupProcess<T>(setup: SetupProcess, take: (processId: number) => T): Promise<T> {
  const { file, args, signal } = setup;
  throwIfCancelled(signal);
  const child = spawn(file, args, {
    cwd: "/",
    env: { PATH: hostPath },
    stdio: ["pipe", "pipe", "pipe", ...(setup.descriptors ?? [])],
    // A process group of its own: a child of bubblewrap that is still being set up would survive bubblewrap alone.
    detached: true,
  }) as ChildProcessWithoutNullStreams;
  const { stdin, stdout, stderr } = child;
  const errors: Buffer[] = [];
  stdin.on("error", () => {
    // It ended before its input did; its exit code says why.
  });
  stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const onAbort = (): void => killGroup(child.pid);
  signal?.addEventListener("abort", onAbort, { once: true });
  const late = setTimeout(onAbort, setupWithinMs);
  try {
    return await new Promise<T>((resolve, reject) => {
      let taken: { readonly value: T } | undefined;
      let failure: Error | undefined;
      stdout.once("data", () => {
        try {
          taken = { value: take(Number(child.pid)) };
        } catch (error) {
          failure = error as Error;
        }
        stdin.end();
      });
      child.once("error", reject);
      child.once("close", (code, killedBy) => {
        if (taken !== undefined) return resolve(taken.value);
        const words = Buffer.concat(errors).toString().trim();
        failure ??= new Error(words || `ended with ${killedBy ?? code}`);
        reject(signal?.aborted ? cancelled(failure) : failure);
      });
    });
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", onAbort);
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // All of it has ended.
  }
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
