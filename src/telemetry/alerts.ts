import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";
import {
  pathOfTooling,
  shortenTooling,
  gapSentences,
  type ChangedToolingFile,
  type ToolingGap,
} from "../policy/tooling-changes.ts";
import type { ClearedFiles } from "../sandbox/setuid-watch.ts";
import type { Alert, AlertListener } from "./alert-book.ts";
import { formatBytes, mebibyte } from "../base/bytes.ts";
import type { ContainerStats } from "../engines/container-stats.ts";
import type { ObservedSandbox, SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { MetricsSample } from "./sampler.ts";

/** What an alert says of one event, or of all. */
type Saying = Pick<Alert, "value" | "message" | "suggestion">;

/** How the events of one kind become alerts. */
interface AlertKind<Event, Told> {
  readonly kind: Alert["kind"];
  /**
   * What is said of one more event, null: nothing; and what is known of the sandbox from now on. `told`: what was known
   * before; undefined for its first event.
   */
  readonly start: (event: Event, told: Told | undefined) => { readonly told: Told; readonly saying: Saying | null };
  readonly end: (told: Told) => Saying;
}

/** Makes alerts of what happens to sandboxes; they end together, as one. */
export class EventAlerts<Event, Told> implements AlertSink<Event> {
  readonly #told = new Map<string, Told>();
  readonly #kind: AlertKind<Event, Told>;
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(kind: AlertKind<Event, Told>, tell: AlertListener, now: () => number) {
    this.#kind = kind;
    this.#tell = tell;
    this.#now = now;
  }

  happened(sandbox: string, event: Event): void {
    const before = this.#told.get(sandbox);
    const { told, saying } = this.#kind.start(event, before);
    if (before !== undefined || saying !== null) this.#told.set(sandbox, told);
    if (saying !== null) this.#say(sandbox, "start", saying);
  }

  ended(sandbox: string): void {
    const told = this.#told.get(sandbox);
    if (told !== undefined && this.#told.delete(sandbox)) this.#say(sandbox, "end", this.#kind.end(told));
  }

  #say(sandbox: string, state: Alert["state"], saying: Saying): void {
    const timestamp = new Date(this.#now()).toISOString();
    this.#tell({ container_id: sandbox, timestamp, kind: this.#kind.kind, threshold: 0, state, ...saying });
  }
}

/** The part of a refusal that an alert reports. */
type Refusal = Pick<Denial, "target" | "reason" | "remedy">;

/** All refused connections of a sandbox are one alert. */
export const refusedConnections: AlertKind<Refusal, { readonly first: Refusal; readonly count: number }> = {
  kind: "network",
  start: ({ target, reason, remedy }, told) => {
    if (told !== undefined) return { told: { ...told, count: told.count + 1 }, saying: null };
    const message = `A connection to ${target} was refused. ${reason}`;
    return {
      told: { first: { target, reason, remedy }, count: 1 },
      saying: { value: 1, message, suggestion: remedy },
    };
  },
  end: ({ first: { target, reason, remedy }, count }) => {
    const refused =
      count === 1
        ? `A connection to ${target} was refused.`
        : `${count} connections were refused, the first to ${target}.`;
    return { value: count, message: `${refused} ${reason}`, suggestion: remedy };
  },
};

/** What a preview's program reported, or failed to do. */
interface PreviewTrouble {
  readonly summary: string;
  /** Null: no file of the project is named. */
  readonly place: { readonly file: string; readonly line: number } | null;
  readonly lines: readonly string[];
}

/** Characters of a preview's lines in one message. */
const maxCharacters = 4_000;
const lookAtPreview =
  "Correct the file that is named, or what the lines tell of; preview_status and read_logs show the rest of the output.";

/** What goes wrong in previews; one of several errors is over when all are. */
export const previewTroubles: AlertKind<PreviewTrouble, number> = {
  kind: "preview_error",
  start: ({ summary, place, lines }, count = 0) => {
    const at = place === null ? "" : `${place.file}:${place.line}: `;
    const text = lines.join("\n").slice(0, maxCharacters);
    const message = `${at}${summary}${text === "" ? "" : `\n${text}`}`;
    return { told: count + 1, saying: { value: count + 1, message, suggestion: lookAtPreview } };
  },
  end: (count) => ({
    value: count,
    message: "The preview shows this error no more, or has ended.",
    suggestion: lookAtPreview,
  }),
};

const lookAtSetuid =
  "A setuid file gives every user of this machine its owner's rights for as long as it has the bit: find out what set it, and destroy the environment if nothing should have.";
const takenOf = (count: number): string =>
  `The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project`;

/** Setuid bits that were taken of a project's files. */
export const clearedSetuidBits: AlertKind<ClearedFiles, number> = {
  kind: "setuid_files",
  start: ({ count, names }, before = 0) => {
    const shown = names.map((name) => JSON.stringify(name.slice(-100))).join(", ");
    const message = `${takenOf(count)}: ${shown}${count > names.length ? ", ..." : ""}.`;
    return { told: before + count, saying: { value: count, message, suggestion: lookAtSetuid } };
  },
  end: (count) => ({ value: count, message: `${takenOf(count)} in all.`, suggestion: lookAtSetuid }),
};

/** Names of files in one message. */
const maxNames = 100;
const lookAtTooling = "Look at these files before git, an editor, a shell or an agent is used in the project.";

/** What one comparison found. */
interface ComparedTooling {
  /** What has not been told yet. */
  readonly changed: readonly ChangedToolingFile[];
  readonly gaps: readonly ToolingGap[];
}

/**
 * Each change to files that tools of a project's owner run, and once a sandbox each reason why a comparison was not
 * whole.
 */
export const changedTooling: AlertKind<
  ComparedTooling,
  { readonly changes: number; readonly gaps: ReadonlySet<ToolingGap> }
> = {
  kind: "tooling_files",
  start: ({ changed, gaps }, before = { changes: 0, gaps: new Set() }) => {
    const news = gaps.filter((gap) => !before.gaps.has(gap));
    const told = { changes: before.changes + changed.length, gaps: new Set([...before.gaps, ...news]) };
    if (changed.length + news.length === 0) return { told, saying: null };
    const names = shortenTooling(changed, maxNames).map((file) => `${pathOfTooling(file)} (${file.change})`);
    const changes = `Files that tools of the project's owner run by themselves have changed: ${names.join(", ")}.`;
    const message = [...(changed.length === 0 ? [] : [changes]), ...gapSentences(news)].join(" ");
    return { told, saying: { value: changed.length, message, suggestion: lookAtTooling } };
  },
  end: ({ changes, gaps }) => ({
    value: changes,
    message: [
      `${changes} ${changes === 1 ? "change" : "changes"} to files that tools of the project's owner run.`,
      ...(gaps.size === 0 ? [] : ["Not all of them could be compared."]),
    ].join(" "),
    suggestion: lookAtTooling,
  }),
};

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
