import type { Bomb } from "./probes.ts";
import type { ExecuteRequest, ExecuteResponse } from "./wire-glovebox.ts";

/** Runs a bomb with little memory and few processes: which parts of its expected end did not happen, in words, or null. */
export async function bombFault(
  bomb: Bomb,
  execute: (request: ExecuteRequest) => Promise<ExecuteResponse>,
): Promise<string | null> {
  const response = await execute({
    language: bomb.language,
    code: bomb.code,
    timeout_seconds: secondsOf(bomb),
    limits: { memory_mb: 128, pids: 64 },
  });
  return differenceOf(bomb, response);
}

/** A program that spins takes a processor from everything else until its time is up. */
function secondsOf(bomb: Bomb): number {
  if (endsByItself(bomb)) return 30;
  return bomb.expect.timeout === true && bomb.expect.stdout_re === undefined ? 3 : 10;
}

/** Whether no other end is as good as its own; such a bomb gets more time on a busy machine. */
function endsByItself({ expect: wanted }: Bomb): boolean {
  return wanted.timeout !== true && ![wanted.exit_code ?? []].flat().includes(124);
}

function differenceOf({ expect: wanted }: Bomb, ended: ExecuteResponse): string | null {
  const shown = JSON.stringify({ ...ended, stdout: ended.stdout.slice(0, 200), stderr: ended.stderr.slice(-300) });
  const codes = [wanted.exit_code ?? []].flat();
  // 124 among the expected codes means that a time-out is as good as another end.
  const mayTimeOut = wanted.timeout === true || codes.includes(124);
  if (ended.timed_out ? !mayTimeOut : wanted.timeout === true) return `timed_out: ${shown}`;
  if (codes.length > 0 && !ended.timed_out && !codes.includes(ended.exit_code ?? -1)) return `exit code: ${shown}`;
  // A program that the kernel killed for lack of memory had no time to print anything more.
  if (ended.outcome === "oom_killed" && codes.includes(137)) return null;
  if (wanted.stdout_re !== undefined && !new RegExp(wanted.stdout_re).test(ended.stdout)) return `stdout: ${shown}`;
  if (wanted.stderr_re !== undefined && !new RegExp(wanted.stderr_re).test(ended.stderr)) return `stderr: ${shown}`;
  return null;
}
