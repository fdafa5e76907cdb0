import { mergeSamples, type MetricsSample } from "./sample.ts";

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
