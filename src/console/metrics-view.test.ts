import { expect, it } from "vitest";
import type { WireSample } from "../operations/metrics-contract.ts";
import { highest, joined, newest, seriesOf } from "./metrics-view.tsx";

const sample = (second: number, more: Partial<WireSample> = {}): WireSample => ({
  timestamp: new Date(second * 1000).toISOString(),
  ...{ cpu_percent: 10, memory_mb: 20, network_rx_bytes: null, network_tx_bytes: null },
  ...{ disk_read_bytes: null, disk_write_bytes: null, memory_cache_mb: null, scratch_mb: null, uptime_seconds: second },
  ...more,
});

it("makes rates of counters, by the time that passed", () => {
  const counted = [0, 100, 700].map((bytes, index) => sample([1, 2, 5][index] ?? 0, { network_rx_bytes: bytes }));
  expect(seriesOf(counted)).toMatchObject({
    seconds: [1, 2, 5],
    networkIn: [null, 100, 200],
    diskRead: [null, null, null],
  });
});

it("joins samples that come again, and keeps the newest", () => {
  const known = [sample(1), sample(2)];
  expect(joined(known, [sample(2), sample(3)], 2).map(({ uptime_seconds: at }) => at)).toEqual([2, 3]);
});

it("finds the newest and the highest of what is known", () => {
  expect([newest([1, 5, null]), highest([1, 5, null]), newest([null]), highest([])]).toEqual([5, 5, null, null]);
});
