import { formatBytes, mebibyte } from "../base/bytes.ts";
import type { ContainerStats } from "../engines/container-stats.ts";
import type { ObservedSandbox, SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Alert, AlertListener } from "./alert-book.ts";
import type { MetricsSample } from "./sampler.ts";

/** A share of CPU time, and the span of time that it is the mean of, in milliseconds of one clock. */
export interface CpuShare {
  readonly percent: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** For how long the CPU must be in use for an alert (SPEC ME2). */
const windowMs = 10_000;

/** The shares that make up the last ten seconds, with one more. */
export function addShare(shares: readonly CpuShare[], share: CpuShare): readonly CpuShare[] {
  return [...shares.filter(({ toMs }) => toMs > share.toMs - windowMs), share];
}

/**
 * The mean of the last ten seconds; null while less is known. A mean, because samples come a little early or late, and a
 * pause of a moment is no end.
 */
export function meanShare(shares: readonly CpuShare[]): number | null {
  let knownMs = 0;
  let used = 0;
  for (const { percent, fromMs, toMs } of shares) {
    knownMs += toMs - fromMs;
    used += percent * (toMs - fromMs);
  }
  return knownMs < windowMs ? null : used / knownMs;
}

/** When an alert starts and when it ends, by how long a value has been above its threshold, or not. */
interface AlertRule {
  readonly startAfterMs: number;
  readonly endAfterMs: number;
}

/** Where a rule stands; `initialRuleState` at first. */
interface RuleState {
  readonly isOn: boolean;
  /** Since when the value has been where it would change that; null: it is not there. */
  readonly sinceMs: number | null;
}

/** One value, and when it was taken, in milliseconds of one clock. */
interface RuleInput {
  readonly isOver: boolean;
  readonly atMs: number;
}

export const initialRuleState: RuleState = { isOn: false, sinceMs: null };

/** The state after one more value, and what changed with it. */
export function stepRule(
  rule: AlertRule,
  state: RuleState,
  { isOver, atMs }: RuleInput,
): { readonly state: RuleState; readonly change: "start" | "end" | null } {
  if (isOver === state.isOn) return { state: { ...state, sinceMs: null }, change: null };
  const sinceMs = state.sinceMs ?? atMs;
  if (atMs - sinceMs < (isOver ? rule.startAfterMs : rule.endAfterMs))
    return { state: { ...state, sinceMs }, change: null };
  return { state: { isOn: isOver, sinceMs: null }, change: isOver ? "start" : "end" };
}

/** Percent of a limit above which an alert starts (SPEC ME2). */
const thresholdPercent = 90;

/** What is above its threshold for a moment only is over soon; it is said to be over when it stays there. */
const rule: AlertRule = { startAfterMs: 0, endAfterMs: 3_000 };

type Kind = "cpu" | "memory" | "oom";

/** What to do; a sandbox has the limits that it was started with, and no more than the ceiling. */
function suggestionFor(kind: Kind, { cpus, memoryBytes }: Ceilings, { limits }: Watched): string {
  const more =
    kind === "cpu"
      ? limits.cpus < cpus && `limits.cpus (at most ${cpus})`
      : limits.memoryBytes < memoryBytes && `limits.memory_mb (at most ${memoryBytes / mebibyte} MiB)`;
  const larger = more === false ? "" : ` More is given to what starts with a higher ${more}.`;
  switch (kind) {
    case "cpu":
      return `Simplify the work or split it; if nothing should compute now, end the program.${larger}`;
    case "memory":
      return `Use less memory: smaller batches, streams instead of whole files.${larger}`;
    case "oom":
      return `Use less memory: the kernel ends programs that go beyond the limit.${larger}`;
  }
}

type Ceilings = Pick<ObservedSandbox["limits"], "cpus" | "memoryBytes">;

/** A percentage of a limit, and when. */
interface Reached {
  readonly percent: number;
  /** Milliseconds since the sandbox's start. */
  readonly atMs: number;
}

interface Watched {
  readonly limits: ObservedSandbox["limits"];
  readonly states: Record<"cpu" | "memory", RuleState>;
  /** The last values, for alerts that end with the sandbox. */
  readonly percents: Record<"cpu" | "memory", number>;
  shares: readonly CpuShare[];
  lastUptimeMs: number;
  oomKills: number;
}

/** Makes alerts of sandboxes that use nearly all of their CPUs or memory, or go beyond it; they end with the sandbox. */
export class UsageAlerts implements SandboxObserver {
  readonly #watched = new Map<string, Watched>();
  readonly #tell: AlertListener;
  readonly #ceilings: Ceilings;
  readonly #now: () => number;

  /** `ceilings`: what no sandbox gets more of. `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, ceilings: Ceilings, now: () => number) {
    this.#tell = tell;
    this.#ceilings = ceilings;
    this.#now = now;
  }

  sandboxOpened({
    sandbox,
    limits,
  }: Pick<ObservedSandbox, "limits"> & { readonly sandbox: { readonly id: string } }): void {
    this.#watched.set(sandbox.id, {
      limits,
      states: { cpu: initialRuleState, memory: initialRuleState },
      percents: { cpu: 0, memory: 0 },
      shares: [],
      lastUptimeMs: 0,
      oomKills: 0,
    });
  }

  /** One more sample of a sandbox. */
  sampled(id: string, sample: Pick<MetricsSample, "cpuPercent" | "memoryBytes" | "uptimeMs">): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    const { cpus, memoryBytes } = watched.limits;
    const { uptimeMs } = sample;
    if (sample.cpuPercent !== null) {
      const share = { percent: sample.cpuPercent / cpus, fromMs: watched.lastUptimeMs, toMs: uptimeMs };
      watched.shares = addShare(watched.shares, share);
      const mean = meanShare(watched.shares);
      if (mean !== null) this.#step(id, watched, "cpu", { percent: mean, atMs: uptimeMs });
    }
    if (sample.memoryBytes !== null) {
      this.#step(id, watched, "memory", { percent: (sample.memoryBytes / memoryBytes) * 100, atMs: uptimeMs });
    }
    watched.lastUptimeMs = uptimeMs;
  }

  /** Whoever reads them, out-of-memory kills are reported once. */
  statsRead(id: string, { oomKills }: Pick<ContainerStats, "oomKills">): void {
    const watched = this.#watched.get(id);
    if (watched === undefined || oomKills === null || oomKills <= watched.oomKills) return;
    watched.oomKills = oomKills;
    this.#tell(
      this.#alert(id, watched, {
        kind: "oom",
        state: "start",
        value: oomKills,
        message: oomMessage(oomKills, watched),
      }),
    );
  }

  sandboxRemoved(id: string): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    this.#watched.delete(id);
    for (const kind of ["cpu", "memory"] as const) {
      const { states, percents } = watched;
      if (states[kind].isOn)
        this.#tell(
          this.#alert(id, watched, {
            kind,
            state: "end",
            value: percents[kind],
            message: `${subjects[kind]}: the sandbox has ended.`,
          }),
        );
    }
    if (watched.oomKills > 0)
      this.#tell(
        this.#alert(id, watched, {
          kind: "oom",
          state: "end",
          value: watched.oomKills,
          message: oomMessage(watched.oomKills, watched),
        }),
      );
  }

  #step(id: string, watched: Watched, kind: "cpu" | "memory", { percent, atMs }: Reached): void {
    const isOver = percent > thresholdPercent;
    const { state, change } = stepRule(rule, watched.states[kind], { isOver, atMs });
    watched.states[kind] = state;
    watched.percents[kind] = percent;
    if (change === null) return;
    this.#tell(
      this.#alert(id, watched, {
        kind,
        state: change,
        value: percent,
        message: `${subjects[kind]}: ${Math.round(percent)} % of the limit (${limitOf(kind, watched)}).`,
      }),
    );
  }

  #alert(
    id: string,
    watched: Watched,
    told: Pick<Alert, "kind" | "state" | "value" | "message"> & { readonly kind: Kind },
  ): Alert {
    const { kind, value } = told;
    return {
      ...told,
      container_id: id,
      timestamp: new Date(this.#now()).toISOString(),
      value: kind === "oom" ? value : Math.round(value * 10) / 10,
      threshold: kind === "oom" ? 0 : thresholdPercent,
      suggestion: suggestionFor(kind, this.#ceilings, watched),
    };
  }
}

const subjects = { cpu: "CPU in use for the last ten seconds", memory: "Memory in use" } as const;

function limitOf(kind: "cpu" | "memory", { limits }: Watched): string {
  if (kind === "memory") return formatBytes(limits.memoryBytes);
  return `${limits.cpus} ${limits.cpus === 1 ? "CPU" : "CPUs"}`;
}

function oomMessage(kills: number, { limits }: Watched): string {
  const subject = kills === 1 ? "1 process was" : `${kills} processes were`;
  return `${subject} ended for want of memory: the limit is ${formatBytes(limits.memoryBytes)}.`;
}
