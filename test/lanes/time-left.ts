import type { EngineProject } from "./lanes.ts";

/** When rare tests stop being started: seconds since the epoch. CI sets it, because its time is bounded. */
export const rareUntilVariable = "GLOVEBOX_TEST_RARE_UNTIL";

/**
 * What is begun last in a run of rare tests, and so left out first where time is short: the same tests run on Docker and on
 * the embedded engine, and Apple's engine has more tests than its contract.
 */
export function isLate(project: string, path: string): boolean {
  return (
    project === "podman-rare" || project === "runsc-rare" || path === "test/engine-contract/contract.apple.test.ts"
  );
}

/** Why the tests of a project are not begun any more; null while there is time. @throws RangeError for a bad variable */
export function outOfTime(
  project: EngineProject,
  { environment, nowMs }: { readonly environment: NodeJS.ProcessEnv; readonly nowMs: number },
): string | null {
  const until = environment[rareUntilVariable];
  if (until === undefined || !project.endsWith("-rare")) return null;
  const seconds = Number(until);
  if (until === "" || !Number.isSafeInteger(seconds)) {
    throw new RangeError(
      `${rareUntilVariable} must be a number of seconds since the epoch; it is ${JSON.stringify(until)}.`,
    );
  }
  return nowMs < seconds * 1000 ? null : `no time was left for rare tests (${rareUntilVariable})`;
}
