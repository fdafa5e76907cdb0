import type { PumpState } from "../../base/batch-pump.ts";

/** What is reported about each queue to the store and to Redis. */
export interface SinkMetric {
  readonly name: string;
  readonly help: string;
  readonly value: (state: PumpState) => number;
}

/** Those that go up and down. */
export const sinkGauges: readonly SinkMetric[] = [
  {
    name: "glovebox_sink_queued",
    help: "Items that wait to be written, by where they go.",
    value: ({ queued }) => queued,
  },
  {
    name: "glovebox_sink_failing",
    help: "1 while the last attempt to write has failed.",
    value: ({ isFailing }) => (isFailing ? 1 : 0),
  },
];

/** Those that only go up. */
export const sinkCounters: readonly SinkMetric[] = [
  { name: "glovebox_sink_written_total", help: "Items that have been written.", value: ({ written }) => written },
  {
    name: "glovebox_sink_dropped_total",
    help: "Items that are lost: they found no room, or were refused.",
    value: ({ dropped }) => dropped,
  },
];
