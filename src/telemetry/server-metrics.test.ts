import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { ObservedSandbox } from "../sandbox/sandbox-observer.ts";
import type { Alert } from "./alert-book.ts";
import { ServerMetrics } from "./server-metrics.ts";

let metrics: ServerMetrics;
let waiting = 3;
beforeEach(() => {
  metrics = new ServerMetrics({
    waiting: () => waiting,
    warmUse: () => ({ one: { waiting: 2, hits: 8, misses: 3 } }),
    samples: () => ({ taken: 5, skipped: 1 }),
    droppedEntries: () => ({ pace: 7 }),
    sinks: () => ({ redis: { queued: 4, written: 6, dropped: 2, isFailing: true } }),
  });
});
afterEach(() => metrics.close());

const opened = {
  sandbox: { id: "sbx-1" },
  engine: "one",
  kind: "execute",
  startMs: 20,
} as unknown as ObservedSandbox;
const run = { engine: "one", kind: "execute" } as StartedRun;
const end = { outcome: "completed", durationMs: 1_500 } as RunEnding;
const page = async (): Promise<string> => (await metrics.page()).text;

describe("the server's own metrics", () => {
  it("count nothing before they are opened", async () => {
    metrics.sandboxOpened(opened);
    metrics.sandboxRemoved("sbx-1");
    metrics.runEnded(run, end);
    expect(await page()).not.toMatch(/glovebox_(sandboxes|runs)\w*\{/);
  });

  it("count sandboxes by their lives, each end once", async () => {
    await metrics.open();
    metrics.sandboxOpened(opened);
    expect(await page()).toContain('glovebox_sandboxes{engine="one",kind="execute"} 1');
    metrics.sandboxRemoved("sbx-1");
    metrics.sandboxRemoved("sbx-1");
    metrics.sandboxRemoved("sbx-unknown");
    const text = await page();
    expect(text).toContain('glovebox_sandboxes{engine="one",kind="execute"} 0');
    expect(text).toContain('glovebox_sandboxes_removed_total{engine="one",kind="execute"} 1');
    expect(text).toContain('glovebox_sandbox_start_duration_seconds_sum{engine="one",kind="execute"} 0.02');
  });

  it("count runs by outcome, and their time where they had one", async () => {
    await metrics.open();
    metrics.runEnded(run, end);
    metrics.runEnded(run, { ...end, outcome: "failed", durationMs: null });
    const text = await page();
    expect(text).toContain('glovebox_runs_total{engine="one",kind="execute",outcome="completed"} 1');
    expect(text).toContain('glovebox_runs_total{engine="one",kind="execute",outcome="failed"} 1');
    expect(text).toContain('glovebox_run_duration_seconds_sum{engine="one",kind="execute"} 1.5');
    expect(text).toContain('glovebox_run_duration_seconds_count{engine="one",kind="execute"} 1');
  });

  it("count alerts that start, and not their ends", async () => {
    await metrics.open();
    for (const state of ["start", "end"] as const) metrics.alertTold({ kind: "cpu", state } as Alert);
    expect(await page()).toContain('glovebox_alerts_total{kind="cpu"} 1');
  });

  it("have no label that a request chose", async () => {
    await metrics.open();
    metrics.httpRequestEnded({ method: "INVENTED", route: "/api/sandbox/{id}", status: 200, durationMs: 100 });
    const text = await page();
    expect(text).toContain('http_request_method="_OTHER",http_route="/api/sandbox/{id}"');
    expect(text).not.toContain("INVENTED");
  });

  it("have a bound of values for each label, whoever chose them", async () => {
    await metrics.open();
    metrics.mcpRequestEnded({ method: "ping", tool: null, errorType: null, durationMs: 1 });
    for (let number = 0; number < 1_000; number += 1) {
      const invented = `invented-${number}`;
      metrics.httpRequestEnded({ method: "GET", route: invented, status: 1_000 + number, durationMs: 1 });
      metrics.mcpRequestEnded({ method: invented, tool: invented, errorType: invented, durationMs: 1 });
      metrics.operationEnded({ operation: invented, isTool: true, errorType: invented, durationMs: 1 });
      metrics.alertTold({ kind: invented, state: "start" } as unknown as Alert);
      metrics.runEnded({ engine: invented, kind: invented } as StartedRun, { ...end, outcome: invented } as RunEnding);
      metrics.sandboxOpened({ ...opened, sandbox: { id: invented }, engine: invented } as unknown as ObservedSandbox);
      metrics.sandboxRemoved(invented);
    }
    const text = await page();
    const values = new Map<string, Set<string>>();
    for (const [, name = "", value = ""] of text.matchAll(/([a-z_]+)="([^"]*)"/g)) {
      values.set(name, (values.get(name) ?? new Set()).add(value));
    }
    const sizes = [...values].map(([name, { size }]) => [name, size]);
    expect(sizes.filter(([, size]) => Number(size) > 258)).toEqual([]);
    expect(text).toContain('http_route="_OTHER"');
    // What was there before still counts by itself.
    metrics.mcpRequestEnded({ method: "ping", tool: null, errorType: null, durationMs: 1 });
    expect(await page()).toMatch(/mcp_server_operation_duration_seconds_count\{mcp_method_name="ping",.*\} 2/);
  });

  it("ask for what waits, samples and queues at each reading", async () => {
    expect(await page()).toContain("glovebox_requests_waiting 3");
    waiting = 1;
    for (let reading = 0; reading < 2; reading++) {
      const text = await page();
      for (const line of [
        "glovebox_requests_waiting 1",
        'glovebox_warm_sandboxes{engine="one"} 2',
        'glovebox_warm_sandbox_requests_total{engine="one",result="hit"} 8',
        'glovebox_warm_sandbox_requests_total{engine="one",result="miss"} 3',
        'glovebox_samples_total{result="taken"} 5',
        'glovebox_log_entries_dropped_total{at="pace"} 7',
        'glovebox_sink_queued{sink="redis"} 4',
        'glovebox_sink_failing{sink="redis"} 1',
        'glovebox_sink_written_total{sink="redis"} 6',
        'glovebox_sink_dropped_total{sink="redis"} 2',
      ]) {
        expect(text).toContain(line);
      }
    }
  });
});
