import { fork, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** A message of a worker about its job. */
export type WorkerMessage =
  | { readonly kind: "begins"; readonly step: string }
  | { readonly kind: "ended"; readonly problem: string | null };

export interface BoundedWork<Job> {
  /** The module that a worker runs: it receives a job and answers with `WorkerMessage`s. */
  readonly worker: URL;
  readonly jobs: readonly Job[];
  readonly nameOf: (job: Job) => string;
  /** Processor time of one step, in seconds. It is not the clock's: the machine may have other work. */
  readonly maxSeconds: number;
}

const pollMs = 200;
const ticksInSecond = 100;

/** Runs all jobs in processes that are ended when a step takes too long. Returns what went wrong, a line each. */
export async function boundedWork<Job extends object>(work: BoundedWork<Job>): Promise<readonly string[]> {
  const faults: string[] = [];
  const jobs = [...work.jobs];
  const lane = async (): Promise<void> => {
    let child: ChildProcess | null = null;
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      child ??= fork(work.worker, { stdio: "inherit" });
      const fault = await runJob(child, job, work.maxSeconds);
      if (fault !== null) faults.push(`${work.nameOf(job)}: ${fault}`);
      if (child.killed || child.exitCode !== null) child = null;
    }
    child?.kill();
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, lane));
  return faults.toSorted();
}

/** What was wrong with a job, null if nothing. */
function runJob(child: ChildProcess, job: object, maxSeconds: number): Promise<string | null> {
  return new Promise((resolve) => {
    let step = "its start";
    let startedAt = secondsOf(child);
    const end = (fault: string | null): void => {
      clearInterval(poll);
      child.removeAllListeners();
      resolve(fault);
    };
    const poll = setInterval(() => {
      if (secondsOf(child) - startedAt < maxSeconds) return;
      child.kill("SIGKILL");
      end(`more than ${maxSeconds} s of processor time for ${step}`);
    }, pollMs);
    child.on("message", (message: WorkerMessage) => {
      if (message.kind === "ended") return end(message.problem);
      step = message.step;
      startedAt = secondsOf(child);
    });
    child.on("exit", (code, signal) => end(`its process ended (${code ?? signal}) at ${step}`));
    child.send(job);
  });
}

/** Processor time of a process since its start, of its threads together. */
function secondsOf({ pid }: ChildProcess): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksInSecond;
  } catch {
    return 0;
  }
}
