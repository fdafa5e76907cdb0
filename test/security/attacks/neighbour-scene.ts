import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Glovebox } from "../../helpers/wire-glovebox.ts";
import { uniqueSeconds } from "../../helpers/processes.ts";
import { testImages } from "../../helpers/test-images.ts";
import { unsealed } from "./host-scene.ts";
import { attackFromContainer, attackFromSandbox, soloProgram, type AttackRun, type Verdicts } from "./run-attacks.ts";
import type { UsedPlace } from "./use-place.ts";

type Victim = "lives-as-neighbour" | "hoards-watchers";

const number = uniqueSeconds();
const parameters = {
  neighbourPort: 20_000 + (Number(number) % 10_000),
  neighbourName: `neighbour-${number}`,
  neighbourKey: Number(number),
  neighbourSeconds: number,
  holdSeconds: 60,
};

/** Runs attacks while the victim is alive in another sandbox. */
export async function attackSandboxBeside(
  victim: Victim,
  { glovebox, request }: UsedPlace,
  runs: readonly AttackRun[],
): Promise<Verdicts> {
  const up = Promise.withResolvers<void>();
  const end = new AbortController();
  const living = startVictim(glovebox(), { victim, request, signal: end.signal, onUp: up.resolve });
  try {
    await Promise.race([up.promise, living.then(() => Promise.reject(new Error("The neighbour ended early.")))]);
    return await attackSandboxAfter({ glovebox, request }, runs);
  } finally {
    end.abort();
    await living.catch(() => undefined);
  }
}

/** Runs attacks in a sandbox while there is no other. */
export async function attackSandboxAfter(
  { glovebox, request }: UsedPlace,
  runs: readonly AttackRun[],
): Promise<Verdicts> {
  return (await attackFromSandbox(glovebox(), runs, parameters, request)).verdicts;
}

async function startVictim(
  glovebox: Glovebox,
  options: {
    readonly victim: Victim;
    readonly request: UsedPlace["request"];
    readonly signal: AbortSignal;
    readonly onUp: () => void;
  },
): Promise<void> {
  const { victim, request, signal, onUp } = options;
  await glovebox.execute(
    {
      language: "python",
      code: soloProgram(victim),
      args: [JSON.stringify(parameters)],
      timeout_seconds: 60,
      ...request,
    },
    { signal, onEvent: (event) => (event.type === "output" ? onUp() : undefined) },
  );
}

/** Containers of plain `docker run` that share what the host has, and a folder. */
export interface SharingContainers extends Disposable {
  beside(victim: Victim, runs: readonly AttackRun[], options?: readonly string[]): Promise<Verdicts>;
  afterwards(runs: readonly AttackRun[]): Promise<Verdicts>;
}

export function openSharingContainers(): SharingContainers {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-neighbours-"));
  const sharing = [...unsealed, "--volume", `${folder}:/tmp`];
  let hasShared = false;
  return {
    beside: async (victim, runs, options = sharing) => {
      hasShared = true;
      const program = ["python3", "-c", soloProgram(victim), JSON.stringify(parameters)];
      const child = spawn("docker", ["run", "--rm", "--init", ...options, testImages.python, ...program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), ended]);
      try {
        return await attackFromContainer(options, runs, parameters);
      } finally {
        child.kill();
        await ended;
      }
    },
    afterwards: (runs) => attackFromContainer(sharing, runs, parameters),
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true });
      rmSync(`/dev/shm/${parameters.neighbourName}`, { force: true });
      if (!hasShared) return;
      const key = String(parameters.neighbourKey);
      execFileSync("ipcrm", ["--shmem-key", key, "--queue-key", key], { stdio: "ignore" });
    },
  };
}
