import type { WireSample } from "../../operations/metrics/sample-schema.ts";

/** Values over time, as the plots take them: seconds since the epoch, and one list a line. */
export interface Series {
  readonly seconds: readonly number[];
  readonly cpuPercent: readonly (number | null)[];
  readonly memoryMb: readonly (number | null)[];
  /** Bytes a second. */
  readonly networkIn: readonly (number | null)[];
  readonly networkOut: readonly (number | null)[];
  readonly diskRead: readonly (number | null)[];
  readonly diskWritten: readonly (number | null)[];
}

type Counter = "network_rx_bytes" | "network_tx_bytes" | "disk_read_bytes" | "disk_write_bytes";

/** Samples as values over time; counters become rates. */
export function seriesOf(samples: readonly WireSample[]): Series {
  const seconds = samples.map(({ timestamp }) => Date.parse(timestamp) / 1000);
  const rateOf = (counter: Counter): (number | null)[] =>
    samples.map((sample, index) => {
      const before = samples[index - 1]?.[counter] ?? null;
      const now = sample[counter];
      const passed = (seconds[index] ?? 0) - (seconds[index - 1] ?? 0);
      return before === null || now === null || passed <= 0 ? null : Math.max(0, (now - before) / passed);
    });
  return {
    seconds,
    cpuPercent: samples.map((sample) => sample.cpu_percent),
    memoryMb: samples.map((sample) => sample.memory_mb),
    networkIn: rateOf("network_rx_bytes"),
    networkOut: rateOf("network_tx_bytes"),
    diskRead: rateOf("disk_read_bytes"),
    diskWritten: rateOf("disk_write_bytes"),
  };
}

/** The known samples and the newer ones, without duplicates; at most the newest of them. */
export function joined(known: readonly WireSample[], fresh: readonly WireSample[], max: number): readonly WireSample[] {
  const last = known.at(-1)?.timestamp ?? "";
  return [...known, ...fresh.filter(({ timestamp }) => timestamp > last)].slice(-max);
}

/** The newest value that is known. */
export function newest(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** The highest value; null where none is known. */
export function highest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((max, value) => (value === null || (max ?? value) > value ? max : value), null);
}
