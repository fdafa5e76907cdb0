import { execFile, spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { ExecuteResponse } from "../../helpers/wire-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../../helpers/processes.ts";
import { testImages } from "../../helpers/test-images.ts";
import { everyRight } from "./host-scene.ts";
import { soloProgram } from "./run-attacks.ts";
import type { UsedPlace } from "./use-place.ts";

const limits = { memory_mb: 96, pids: 64 };
const maxOutputBytes = 10 * 2 ** 20;
/** Far longer than a removal takes on a loaded machine. */
const removalMs = 15_000;

/** Does the work for each id, a few at a time, and collects the results. */
export async function eachAtOnce(
  ids: readonly string[],
  work: (id: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const said = new Map<string, string>();
  const queue = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      said.set(id, await work(id).catch((error: unknown) => `BROKEN: ${String(error)}`));
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  return said;
}

/** How a program ends that is alone in a sandbox with small limits. */
export async function bombSandbox({ glovebox, request }: UsedPlace, id: string): Promise<string> {
  const response = await glovebox().execute({
    ...{ language: "python", code: soloProgram(id), args: ["{}"], timeout_seconds: 60, limits },
    ...request,
  });
  return judgeOutput(response.stdout) ?? `BLOCKED: ${response.outcome}`;
}

/** How it ends in a container without limits. */
export async function bombContainer(id: string): Promise<string> {
  const argv = [
    "run",
    "--rm",
    "--ipc",
    "host",
    ...everyRight,
    testImages.python,
    "python3",
    "-c",
    soloProgram(id),
    "{}",
  ];
  const { stdout } = await promisify(execFile)("docker", argv, { maxBuffer: 64 * 2 ** 20 });
  return judgeOutput(stdout) ?? "BLOCKED: it said nothing";
}

function judgeOutput(stdout: string): string | null {
  if (stdout.length > maxOutputBytes) return "ESCAPED: more output than is kept";
  return /^(?:ESCAPED|BLOCKED): .*$/m.exec(stdout)?.[0] ?? null;
}

/** Seconds for which the program itself stays after starting its daemon. */
const stays = { "lives-on-after-its-end": 0, "lives-on-after-its-time": 60 };
export type Survival = keyof typeof stays;

/** Whether a daemon outlives its run; if the host cannot see a sandbox's processes, whether the sandbox itself is left. */
export async function surviveSandbox({ glovebox, request }: UsedPlace, id: Survival): Promise<string> {
  const seconds = uniqueSeconds();
  const response: ExecuteResponse = await glovebox().execute({
    ...{ language: "python", code: soloProgram("lives-on"), timeout_seconds: 3 },
    ...{ args: [JSON.stringify({ seconds, stays: stays[id] })], ...request },
  });
  const expected = stays[id] === 0 ? "completed" : "timed_out";
  if (response.outcome !== expected) return `BROKEN: ${response.outcome} ${response.stderr}`;
  const { sandbox_id, engine } = response;
  const isThere = async (): Promise<boolean> =>
    (await glovebox().sandboxes({ engine })).some((row) => row.sandbox_id === sandbox_id);
  // A run that ended by itself is answered while its sandbox is being removed; one that timed out, after that.
  const lateMs = performance.now() + (expected === "completed" ? removalMs : 0);
  while (await isThere()) {
    if (performance.now() >= lateMs) return "ESCAPED: the sandbox is left";
    await setTimeout(50);
  }
  return sleepersFor(seconds).length > 0 ? "ESCAPED: the daemon lives" : "BLOCKED";
}

/** Whether it outlives a host process that is ended in time. */
export function surviveHost(id: Survival): string {
  const seconds = uniqueSeconds();
  const argv = ["-c", soloProgram("lives-on"), JSON.stringify({ seconds, stays: stays[id] })];
  spawnSync("python3", argv, { timeout: 2000, killSignal: "SIGKILL" });
  const left = sleepersFor(seconds);
  for (const pid of left) process.kill(pid, "SIGKILL");
  return left.length > 0 ? "ESCAPED: the daemon lives" : "BLOCKED";
}
