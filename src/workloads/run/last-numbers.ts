import type { ContainerStats } from "../../engines/container-stats.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { WatchedEnd } from "./until-ended.ts";

/** How long before its end is known a program's last numbers may have been asked. */
const earlyMs = 20;

export interface NumbersOptions {
  readonly sandbox: Pick<Sandbox, "stats">;
  /** Resolves when the program's output has ended. */
  readonly outputEnded: Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/**
 * The last numbers of a sandbox, asked as soon as its program's output ends: mostly that is the program's end, of which the
 * engine tells a little later. Of one that did not end well, or that went on, they are asked again: a process may have been
 * killed for want of memory meanwhile.
 */
export function lastNumbers({
  sandbox,
  outputEnded,
  monotonicMs,
}: NumbersOptions): (end: WatchedEnd) => Promise<ContainerStats> {
  let early: { readonly askedMs: number; readonly stats: Promise<ContainerStats> } | undefined;
  const ask = (): void => void (early = { askedMs: monotonicMs(), stats: sandbox.stats() });
  outputEnded.then(ask, () => undefined);
  return ({ exitCode, interruption }) => {
    const asked = exitCode === 0 && interruption === null ? early : undefined;
    return asked !== undefined && monotonicMs() - asked.askedMs <= earlyMs ? asked.stats : sandbox.stats();
  };
}
