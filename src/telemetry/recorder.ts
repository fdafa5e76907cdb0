import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PumpState } from "../base/batch-pump.ts";
import type { WarmUse } from "../sandbox/warm-pool.ts";
import { httpBuckets, mcpBuckets, runBuckets, startBuckets } from "./buckets.ts";

/** What is reported about each queue to the store and to Redis. */
interface SinkMetric {
  readonly name: string;
  readonly help: string;
  readonly value: (state: PumpState) => number;
}

/** Those that go up and down. */
const sinkGauges: readonly SinkMetric[] = [
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
const sinkCounters: readonly SinkMetric[] = [
  { name: "glovebox_sink_written_total", help: "Items that have been written.", value: ({ written }) => written },
  {
    name: "glovebox_sink_dropped_total",
    help: "Items that are lost: they found no room, or were refused.",
    value: ({ dropped }) => dropped,
  },
];

/** What is asked at each reading. */
export interface MetricSources {
  /** Requests that wait for a place. */
  readonly waiting: () => number;
  /** How warm sandboxes are used, by engine; nothing where none are kept. */
  readonly warmUse: () => Readonly<Record<string, WarmUse>>;
  /** Samples of sandboxes by what became of them: taken, skipped, failed. */
  readonly samples: () => Readonly<Record<string, number>>;
  /** Log entries that were dropped, by where: `store`, `redis`, and `pace` for lines that came too fast. */
  readonly droppedEntries: () => Readonly<Record<string, number>>;
  /** The queues to the store and to Redis, by their names. */
  readonly sinks: () => Readonly<Record<string, PumpState>>;
}

/**
 * The server's own metrics in a registry of its own. Labels are words of ours (engines, kinds, outcomes, operations,
 * routes as they are written in the table): never a name of a host, an id or anything else that a request chose.
 */
export class PrometheusRecorder {
  readonly registry: Registry = new Registry();
  readonly sandboxes: Gauge<"engine" | "kind"> = new Gauge({
    name: "glovebox_sandboxes",
    help: "Sandboxes that live now.",
    labelNames: ["engine", "kind"],
    registers: [this.registry],
  });
  readonly started: Counter<"engine" | "kind"> = new Counter({
    name: "glovebox_sandboxes_started_total",
    help: "Sandboxes that have been started.",
    labelNames: ["engine", "kind"],
    registers: [this.registry],
  });
  readonly removed: Counter<"engine" | "kind"> = new Counter({
    name: "glovebox_sandboxes_removed_total",
    help: "Sandboxes that have ended.",
    labelNames: ["engine", "kind"],
    registers: [this.registry],
  });
  readonly startSeconds: Histogram<"engine" | "kind"> = new Histogram({
    name: "glovebox_sandbox_start_duration_seconds",
    help: "Time from a sandbox's place to its being ready.",
    labelNames: ["engine", "kind"],
    buckets: startBuckets,
    registers: [this.registry],
  });
  readonly runs: Counter<"engine" | "kind" | "outcome"> = new Counter({
    name: "glovebox_runs_total",
    help: "Programs that have ended, by their outcome.",
    labelNames: ["engine", "kind", "outcome"],
    registers: [this.registry],
  });
  readonly runSeconds: Histogram<"engine" | "kind"> = new Histogram({
    name: "glovebox_run_duration_seconds",
    help: "Time of the programs themselves.",
    labelNames: ["engine", "kind"],
    buckets: runBuckets,
    registers: [this.registry],
  });
  readonly operationSeconds: Histogram<"operation" | "error_type"> = new Histogram({
    name: "glovebox_operation_duration_seconds",
    help: "Time of operations at every door, waiting included; error_type is empty for those that were answered.",
    labelNames: ["operation", "error_type"],
    buckets: runBuckets,
    registers: [this.registry],
  });
  readonly httpSeconds: Histogram<"http_request_method" | "http_route" | "http_response_status_code"> = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time of HTTP requests.",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"],
    buckets: httpBuckets,
    registers: [this.registry],
  });
  readonly mcpSeconds: Histogram<"mcp_method_name" | "gen_ai_tool_name" | "error_type"> = new Histogram({
    name: "mcp_server_operation_duration_seconds",
    help: "Time of MCP requests.",
    labelNames: ["mcp_method_name", "gen_ai_tool_name", "error_type"],
    buckets: mcpBuckets,
    registers: [this.registry],
  });
  readonly alerts: Counter<"kind"> = new Counter({
    name: "glovebox_alerts_total",
    help: "Alerts that have started.",
    labelNames: ["kind"],
    registers: [this.registry],
  });
  readonly waiting: Gauge;
  readonly samples: Counter<"result">;
  readonly droppedEntries: Counter<"at">;

  constructor({ waiting, warmUse, samples, droppedEntries, sinks }: MetricSources) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.waiting = new Gauge({
      name: "glovebox_requests_waiting",
      help: "Requests that wait for a place for their sandbox.",
      registers,
      collect() {
        this.set(waiting());
      },
    });
    this.samples = new Counter({
      name: "glovebox_samples_total",
      help: "Samples of sandboxes: taken, failed by the engine, and skipped because it was late.",
      labelNames: ["result"],
      registers,
      collect() {
        this.reset();
        for (const [result, count] of Object.entries(samples())) this.inc({ result }, count);
      },
    });
    this.droppedEntries = new Counter({
      name: "glovebox_log_entries_dropped_total",
      help: "Log entries that were dropped: for want of room on the way to the store or Redis, or at their source (pace).",
      labelNames: ["at"],
      registers,
      collect() {
        this.reset();
        for (const [at, count] of Object.entries(droppedEntries())) this.inc({ at }, count);
      },
    });
    this.#followWarmUse(warmUse);
    this.#followSinks(sinks);
  }

  #followWarmUse(warmUse: MetricSources["warmUse"]): void {
    const waiting = new Gauge({
      name: "glovebox_warm_sandboxes",
      help: "Warm sandboxes that wait for a run.",
      labelNames: ["engine"],
      registers: [],
      collect() {
        for (const [engine, use] of Object.entries(warmUse())) this.set({ engine }, use.waiting);
      },
    });
    const requests = new Counter({
      name: "glovebox_warm_sandbox_requests_total",
      help: "Runs that could use a warm sandbox: those that found one (hit), and those that started their own (miss).",
      labelNames: ["engine", "result"],
      registers: [],
      collect() {
        this.reset();
        for (const [engine, { hits, misses }] of Object.entries(warmUse())) {
          this.inc({ engine, result: "hit" }, hits);
          this.inc({ engine, result: "miss" }, misses);
        }
      },
    });
    this.registry.registerMetric(waiting);
    this.registry.registerMetric(requests);
  }

  #followSinks(sinks: MetricSources["sinks"]): void {
    const shared = { labelNames: ["sink" as const], registers: [] };
    for (const { value, ...about } of sinkGauges) {
      const gauge = new Gauge({
        ...{ ...about, ...shared },
        collect() {
          for (const [sink, state] of Object.entries(sinks())) this.set({ sink }, value(state));
        },
      });
      this.registry.registerMetric(gauge);
    }
    for (const { value, ...about } of sinkCounters) {
      const counter = new Counter({
        ...{ ...about, ...shared },
        collect() {
          this.reset();
          for (const [sink, state] of Object.entries(sinks())) this.inc({ sink }, value(state));
        },
      });
      this.registry.registerMetric(counter);
    }
  }
}
