import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { keeperUserOf, processUserOf, uidOf } from "./container-users.ts";
import { killCommand, killScriptCodes, type KillTarget } from "./kill-script.ts";
import type { LiveExec } from "./live-execs.ts";
import { runHelper } from "./run-helper.ts";
import type { RunningContainer } from "./running-container.ts";

/** How often a killer is started again that could not start, or that left something alive. */
const attempts = 40;
/** How long that may go on. */
const maxMs = 15_000;
/** How long one killer may run: twice what its looking takes on a loaded machine. */
const killerMs = 10_000;
const retryMs = 50;
/** How long killed processes may take to be gone, and how often that is checked. */
const goneMs = 1_000;
const lookMs = 10;
/** How long another program that is being started may take to report its number. */
const numberMs = 10_000;

export interface ExecKill {
  readonly container: RunningContainer;
  readonly victim: LiveExec;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** Called when SIGKILL has reached everything, before the engine tells of the victim's end. */
  readonly onKilled: () => void;
}

/**
 * Signals a program with all that it started, and no other: see `Process.kill`.
 *
 * Root without capabilities may signal nobody but itself, so a killer runs as the victim's own user. Without others of
 * that user the kernel reaches every process of it in one call, whatever it has done to hide. Beside others the rest is
 * sorted (see the script).
 */
export async function killExec(kill: ExecKill): Promise<void> {
  const { container } = kill;
  await container.execs.alone(async () => {
    try {
      await killAlone(kill);
    } catch (error) {
      // When a container has ended, everything in it has.
      if (await container.isAlive()) throw error;
    }
  });
}

async function killAlone({ container, victim, signal, onKilled }: ExecKill): Promise<void> {
  const spared = await sparedBy(container, victim);
  const isExact = spared.numbers.length === 0;
  const deadline = AbortSignal.timeout(maxMs);
  for (let attempt = 0; attempt < attempts && !deadline.aborted; attempt += 1) {
    if (isExact && (await isGone(container, victim))) return;
    const number = container.execs.has(victim) ? await numberOf(victim) : null;
    const found = await runKiller(container, victim.user, {
      signal: signal === "SIGTERM" ? "TERM" : "KILL",
      spared: spared.numbers,
      victim: number,
      marks: spared.marks,
    });
    if (signal === "SIGTERM") {
      if (found === "some" || !container.execs.has(victim)) return;
      // A lack of processes is SIGKILL's concern, which must not have to wait for this.
      if (found === "failed") break;
    } else if (found === "none") {
      onKilled();
      if (await becomesGone(container, victim, isExact)) return;
    }
  }
  throw survivedError(container);
}

/** What must outlive the victim. */
async function sparedBy(
  container: RunningContainer,
  victim: LiveExec,
): Promise<{ readonly numbers: readonly number[]; readonly marks: readonly string[] }> {
  // Nobody knows the number of a main process; the keeper is root's.
  const isMains = container.spec.command !== undefined && uidOf(victim.user) === uidOf(processUserOf(container.spec));
  if (isMains) throw notAloneError(container);
  const others = await Promise.all(
    container.execs.beside(victim).map(async (other) => {
      if (other.identity === null) throw notAloneError(container);
      const number = await numberOf(other);
      // It may have ended meanwhile.
      if (!container.execs.has(other)) return null;
      if (number === null) throw survivedError(container);
      return { number, mark: other.identity.mark };
    }),
  );
  const alive = others.filter((other) => other !== null);
  const numbers = alive.map((other) => other.number);
  if (uidOf(victim.user) === uidOf(keeperUserOf(container.spec))) numbers.push(await keeperNumber(container));
  return { numbers, marks: alive.map((other) => other.mark) };
}

/** Number of its first process once it has begun; null when that is unknown. */
export async function numberOf({ identity }: LiveExec): Promise<number | null> {
  if (identity === null || !(await settlesWithin(identity.number, numberMs))) return null;
  return identity.number;
}

/** Whether nothing of it is left; false also when others of its user run, beside whom that is not looked at. */
export async function isGoneAlone(container: RunningContainer, exec: LiveExec): Promise<boolean> {
  return container.execs.beside(exec).length === 0 && (await isGone(container, exec));
}

async function keeperNumber(container: RunningContainer): Promise<number> {
  const answer = await container.askKeeper();
  if (typeof answer === "string" || answer.number === null) throw survivedError(container);
  return answer.number;
}

/** Whether the victim has ended and, where nobody shares its user, no process of that user is left. */
async function isGone(container: RunningContainer, victim: LiveExec): Promise<boolean> {
  if (container.execs.has(victim)) return false;
  const answer = await container.askKeeper({ uid: uidOf(victim.user) });
  return typeof answer === "string" ? !(await container.isAlive()) : answer.processes === 0;
}

/** The same for up to a second after a killer found nothing more; the keeper, where there is one, has the last word. */
async function becomesGone(container: RunningContainer, victim: LiveExec, isExact: boolean): Promise<boolean> {
  const isKept = container.spec.command === undefined;
  const deadline = AbortSignal.timeout(goneMs);
  for (;;) {
    if (isExact && isKept ? await isGone(container, victim) : !container.execs.has(victim)) return true;
    if (deadline.aborted) return false;
    await sleep(lookMs);
  }
}

/** What a killer found; `failed` when it could not be started, or was killed itself. */
async function runKiller(
  container: RunningContainer,
  user: string,
  target: KillTarget,
): Promise<"none" | "some" | "failed"> {
  const command = killCommand(target);
  const late = (): GloveboxError => survivedError(container);
  const exitCode = await runHelper(container, { command, user, maxMs: killerMs, late });
  if (exitCode === killScriptCodes.none) return "none";
  if (exitCode === killScriptCodes.some) return "some";
  await sleep(retryMs);
  return "failed";
}

function notAloneError({ engine }: RunningContainer): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "A program cannot be ended alone beside another that is not concurrent.", {
    suggestion: "Start programs that share a user with `concurrent`, or end the container.",
    context: { engine: engine.name, missing: "concurrent" },
  });
}

function survivedError({ engine }: RunningContainer): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `A program in a container on ${engine.title} may not have ended.`, {
    suggestion: "Remove the container and continue in a new one.",
    context: { engine: engine.name },
  });
}
