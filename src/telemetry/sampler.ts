import type { ContainerStats } from "../engines/container-stats.ts";
import { Kept } from "../base/kept.ts";
import type { ObservedSandbox, SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Kit } from "../base/kit.ts";

/** What a sandbox used at one moment (SPEC ME1); null is what its engine cannot tell. */
export interface MetricsSample {
  /** Milliseconds since the epoch: when it was taken. */
  readonly takenAtMs: number;
  /** Since the sample before: 100 is one CPU, wholly used. */
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
  /** Of it, what holds files. */
  readonly memoryCacheBytes: number | null;
  /** In its folders in memory. */
  readonly scratchBytes: number | null;
  /** Network and disks: bytes since the start. */
  readonly networkReceivedBytes: number | null;
  readonly networkSentBytes: number | null;
  readonly diskReadBytes: number | null;
  readonly diskWriteBytes: number | null;
  readonly uptimeMs: number;
}

/** What was read of a sandbox at one moment. */
export interface Reading {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly stats: ContainerStats;
  /** Null where the sandbox's traffic is not known. */
  readonly traffic: { readonly receivedBytes: number; readonly sentBytes: number } | null;
  readonly uptimeMs: number;
}

/** The sample that a reading makes after the one before it; the first knows no share of CPU time yet. */
export function sampleOf(reading: Reading, before: Reading | null): MetricsSample {
  const { atMs, stats, traffic, uptimeMs } = reading;
  return {
    takenAtMs: atMs,
    cpuPercent: before === null ? null : cpuPercent(reading, before),
    memoryBytes: stats.memoryBytes,
    memoryCacheBytes: stats.memoryCacheBytes,
    scratchBytes: stats.scratchBytes,
    networkReceivedBytes: traffic?.receivedBytes ?? null,
    networkSentBytes: traffic?.sentBytes ?? null,
    diskReadBytes: stats.diskReadBytes,
    diskWriteBytes: stats.diskWriteBytes,
    uptimeMs,
  };
}

/** One sample that stands for several in a row: mean of the CPU, highest memory, the last counts. Null for none. */
export function mergeSamples(samples: readonly MetricsSample[]): MetricsSample | null {
  const last = samples.at(-1);
  if (last === undefined) return null;
  const shares = samples.flatMap(({ cpuPercent: share }) => share ?? []);
  const memory = samples.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return {
    ...last,
    cpuPercent: shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / shares.length,
    memoryBytes: memory.length === 0 ? null : Math.max(...memory),
  };
}

/** Samples kept as they were taken: ten minutes of seconds. */
const maxFine = 600;
/** So many older ones become one, and so many of those are kept: an hour. */
const merged = 10;
const maxCoarse = 360;

/** The newest samples of one sandbox, the older ones merged ten to one. */
export class SampleRing {
  #fine: MetricsSample[] = [];
  #coarse: MetricsSample[] = [];

  push(sample: MetricsSample): void {
    this.#fine.push(sample);
    // The oldest are merged together, so that moving the rest is paid for once in ten samples.
    if (this.#fine.length < maxFine + merged) return;
    const one = mergeSamples(this.#fine.slice(0, merged));
    this.#fine = this.#fine.slice(merged);
    if (one !== null) this.#coarse.push(one);
    if (this.#coarse.length > maxCoarse) this.#coarse.shift();
  }

  get last(): MetricsSample | undefined {
    return this.#fine.at(-1);
  }

  /** At most so many, the newest, oldest first; none taken before a time, when one is given. */
  newest(count: number, sinceMs: number = Number.NEGATIVE_INFINITY): readonly MetricsSample[] {
    return [...this.#coarse, ...this.#fine].filter(({ takenAtMs }) => takenAtMs >= sinceMs).slice(-count);
  }
}

interface SamplerOptions extends Pick<Kit, "logger" | "now" | "monotonicMs"> {
  /** Traffic of a sandbox; undefined for one that never had a network. */
  readonly trafficOf: (sandbox: string) => NonNullable<Reading["traffic"]> | undefined;
  /** Receives each sample; does not throw. */
  readonly onSample: (sandbox: string, sample: MetricsSample, stats: ContainerStats) => void;
}

/** A sandbox with its samples. */
export interface SampledSandbox {
  readonly observed: Omit<ObservedSandbox, "startMs">;
  readonly ring: SampleRing;
  readonly principal: string;
}

/** How the sampler gets on. */
interface SamplerCounts {
  readonly taken: number;
  /** Turns that were left out because the engine still had not answered, or had just failed. */
  readonly skipped: number;
  readonly failed: number;
}

const intervalMs = 1_000;
/** What comes sooner after the sample before is none: all at once, after this process was stopped, or too much of it. */
const minGapMs = 500;
/** How long an engine may take for one sample. */
const askMs = 5_000;
/** How long a sandbox whose engine failed is left alone. */
const restMs = 5_000;
/** Samples on their way from one engine at once. */
const maxAsked = 32;
/** Sandboxes that have ended and whose samples are kept. */
const maxEnded = 50;

interface Live extends SampledSandbox {
  readonly startedMs: number;
  before: Reading | null;
  /** Whether its engine's statistics come by themselves; undefined: that was not yet found out. */
  comesByItself: boolean | undefined;
  isAsked: boolean;
  restsUntilMs: number;
}

/**
 * Takes a sample of every live sandbox each second, as long as there are any: of what comes by itself, and by asking the others.
 * Nothing waits for it: an engine that does not answer misses its turns.
 */
export class Sampler implements SandboxObserver {
  readonly #options: SamplerOptions;
  readonly #live = new Map<string, Live>();
  readonly #ended = new Kept<SampledSandbox>({ max: maxEnded });
  readonly #asked = new Map<string, number>();
  readonly #counts = { taken: 0, skipped: 0, failed: 0 };
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** A sandbox that lives or has ended not long ago. */
  find(id: string): SampledSandbox | undefined {
    return this.#live.get(id) ?? this.#ended.get(id);
  }

  get live(): readonly SampledSandbox[] {
    return [...this.#live.values()];
  }

  get counts(): SamplerCounts {
    return { ...this.#counts };
  }

  sandboxOpened(observed: ObservedSandbox): void {
    if (this.#closing.signal.aborted) return;
    this.#live.set(observed.sandbox.id, {
      observed,
      ring: new SampleRing(),
      principal: observed.principal,
      startedMs: this.#options.monotonicMs(),
      before: null,
      comesByItself: undefined,
      isAsked: false,
      restsUntilMs: 0,
    });
    this.#timer ??= setInterval(() => this.#tick(), intervalMs).unref();
  }

  sandboxRemoved(id: string): void {
    const live = this.#live.get(id);
    if (live === undefined) return;
    this.#live.delete(id);
    this.#ended.set(id, live);
    if (this.#live.size === 0) this.#stop();
  }

  close(): void {
    this.#closing.abort();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const nowMs = this.#options.monotonicMs();
    for (const live of this.#live.values()) {
      const { engine, sandbox } = live.observed;
      // Most sandboxes have ended before the first of it would be worth its while.
      live.comesByItself ??= sandbox.watchStats((stats) => this.#take(live, stats));
      if (live.comesByItself) continue;
      const asked = this.#asked.get(engine) ?? 0;
      if (live.isAsked || nowMs < live.restsUntilMs || asked >= maxAsked) {
        this.#counts.skipped++;
        continue;
      }
      this.#asked.set(engine, asked + 1);
      live.isAsked = true;
      void this.#ask(live).finally(() => {
        live.isAsked = false;
        this.#asked.set(engine, (this.#asked.get(engine) ?? 1) - 1);
      });
    }
  }

  async #ask(live: Live): Promise<void> {
    const { monotonicMs, logger } = this.#options;
    const { sandbox } = live.observed;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(askMs)]);
      this.#take(live, await sandbox.measure({ signal }));
    } catch (error) {
      live.restsUntilMs = monotonicMs() + restMs;
      if (this.#live.get(sandbox.id) !== live || this.#closing.signal.aborted) return;
      this.#counts.failed++;
      logger.debug({ sandbox: sandbox.id, err: error }, "no sample of a sandbox");
    }
  }

  #take(live: Live, stats: ContainerStats): void {
    const { now, monotonicMs, onSample } = this.#options;
    const { id } = live.observed.sandbox;
    const uptimeMs = monotonicMs() - live.startedMs;
    if (this.#live.get(id) !== live) return;
    if (live.before !== null && uptimeMs - live.before.uptimeMs < minGapMs) return;
    const reading = { atMs: now(), stats, traffic: this.#trafficOf(live), uptimeMs };
    const sample = sampleOf(reading, live.before);
    live.before = reading;
    live.ring.push(sample);
    this.#counts.taken++;
    onSample(id, sample, stats);
  }

  /** The proxy is the only way out, so that what had none moved nothing; without a wall nobody knows. */
  #trafficOf({ observed }: Live): Reading["traffic"] {
    if (observed.sandbox.capabilities.noNetwork !== "yes") return null;
    return this.#options.trafficOf(observed.sandbox.id) ?? { receivedBytes: 0, sentBytes: 0 };
  }
}

/** By the clock that never goes back; null as well for a count that went back, as that of a sandbox which lies may. */
function cpuPercent({ stats, uptimeMs }: Reading, before: Reading): number | null {
  const elapsedMs = uptimeMs - before.uptimeMs;
  if (stats.cpuTimeMs === null || before.stats.cpuTimeMs === null || elapsedMs <= 0) return null;
  const usedMs = stats.cpuTimeMs - before.stats.cpuTimeMs;
  return usedMs < 0 ? null : (usedMs / elapsedMs) * 100;
}
