import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { NotWarmError, type WarmGlovebox } from "../../helpers/warm-glovebox.ts";
import type { TestedPlace } from "../../helpers/open-glovebox.ts";
import { warmAttacks } from "./warm-attacks.ts";

/** One program and its input. */
export interface WorkerJob {
  readonly code: string;
  readonly args: string[];
  readonly stdin: string;
}

/** Runs a program, and resolves to what it wrote. */
export type RunJob = (job: WorkerJob) => Promise<string>;

const read = (name: string): string =>
  readFileSync(new URL(`../../fixtures/attacks/${name}.py`, import.meta.url), "utf8");
const [begins, ends] = ["the-secret-", "of-the-run-before"] as const;
const looksBack = "reads-memory-of-former-run";

/** Provides a way to run programs for some work, and closes it afterwards. */
export type UseWorker = (work: (run: RunJob) => Promise<void>) => Promise<void>;

/** Runs each attack before or after another program; returns the verdict for each attack's id. */
export async function attackNextRun(use: UseWorker): Promise<ReadonlyMap<string, string>> {
  const victim = { code: read("is-run-next"), args: [`${begins}${ends}`], stdin: "typed" };
  const verdicts = new Map<string, string>();
  const attack = async (id: string, run: RunJob): Promise<string> => {
    if (id === looksBack) {
      await run(victim);
      return run({ code: read(id), args: [begins, ends], stdin: "" });
    }
    await run({ code: read(id), args: [], stdin: "" });
    const said = await run(victim);
    return said === `${begins}${ends} typed\n` ? "BLOCKED: it has its own" : `ESCAPED: ${said}`;
  };
  // One after another: each attack targets the very next run.
  for (const { id } of warmAttacks) {
    await use(async (run) => void verdicts.set(id, await attack(id, run)));
  }
  return verdicts;
}

/** How often an attack starts over if one of its programs did not get a sandbox that waited. */
const warmTries = 5;

/** Runs programs in sandboxes that waited. */
export function inWarmSandboxes(warm: () => WarmGlovebox, request: TestedPlace["runtime"]): UseWorker {
  const run: RunJob = async ({ code, args, stdin }) => {
    const program = { language: "python", code, args, stdin, timeout_seconds: 60 } as const;
    return (await warm().run({ ...program, ...request })).stdout;
  };
  const tryWork = async (work: Parameters<UseWorker>[0], triesLeft: number): Promise<void> => {
    try {
      await work(run);
    } catch (error) {
      if (!(error instanceof NotWarmError) || triesLeft <= 1) throw error;
      await tryWork(work, triesLeft - 1);
    }
  };
  return (work) => tryWork(work, warmTries);
}

/** One interpreter for one program after another. */
const worker = `
import io, json, sys
while True:
    line = sys.__stdin__.readline()
    if not line:
        break
    job = json.loads(line)
    sys.argv, sys.stdin = ["main.py", *job["args"]], io.StringIO(job["stdin"])
    try:
        exec(job["code"], globals())
    except SystemExit:
        pass
    sys.stdout.flush()
    sys.__stdout__.write("\\0\\n")
    sys.__stdout__.flush()
`;

/** How long a worker may take to start and do its first job, and for a job after it, before that counts as lost. */
const [firstAnswerMs, answerMs] = [60_000, 5_000];

/** Runs programs in such a worker on this machine, a fresh one each time, since attacks spoil it. */
export const inReusedWorker: UseWorker = async (work) => {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-worker-"));
  // Through a pipe: the first reader to wait is the first to be served.
  const argv = ["-c", 'cat | python3 -c "$1"', "sh", worker];
  const child = spawn("sh", argv, { stdio: ["pipe", "pipe", "ignore"], cwd: folder, detached: true });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let isFirst = true;
  const run: RunJob = async (job) => {
    child.stdin.write(`${JSON.stringify(job)}\n`);
    const waitMs = isFirst ? firstAnswerMs : answerMs;
    isFirst = false;
    const late = new Promise<null>((resolve) => setTimeout(resolve, waitMs, null).unref());
    let said = "";
    for (;;) {
      const next = await Promise.race([lines.next(), late]);
      if (next === null || next.done === true || next.value === "\0") return said;
      said += `${next.value}\n`;
    }
  };
  try {
    await work(run);
  } finally {
    process.kill(-(child.pid ?? 0), "SIGKILL");
    child.stdout.destroy();
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
};
