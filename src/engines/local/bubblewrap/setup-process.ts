import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { cancelled, throwIfCancelled } from "../../../base/abort.ts";
import { hostPath } from "./host-tools.ts";

export interface SetupProcess {
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
