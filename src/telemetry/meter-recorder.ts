import { metrics, type Counter, type Histogram, type Meter, type UpDownCounter } from "@opentelemetry/api";
import type { WarmUse } from "../sandbox/warm-pool.ts";
import { httpBuckets, mcpBuckets, runBuckets, startBuckets } from "./buckets.ts";

type Labels = Readonly<Record<string, string | number>>;

/**
 * The server's own metrics by OpenTelemetry's interface; where they go is for the SDK that is registered with it. Labels
 * are words of ours, as for Prometheus: never a name of a host, an id or anything else that a request chose.
 */
export class MeterRecorder {
  readonly #meter: Meter;
  readonly sandboxes: UpDownCounter<Labels>;
  readonly alerts: Counter<Labels>;
  readonly startSeconds: Histogram<Labels>;
  readonly runSeconds: Histogram<Labels>;
  readonly operationSeconds: Histogram<Labels>;
  readonly toolSeconds: Histogram<Labels>;
  readonly httpSeconds: Histogram<Labels>;
  readonly mcpSeconds: Histogram<Labels>;

  constructor(version: string) {
    const meter = metrics.getMeter("glovebox", version);
    this.#meter = meter;
    const seconds = (name: string, description: string, buckets: number[]): Histogram<Labels> =>
      meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: buckets } });
    this.sandboxes = meter.createUpDownCounter("glovebox.sandboxes", {
      description: "Sandboxes that live now.",
      unit: "{sandbox}",
    });
    this.alerts = meter.createCounter("glovebox.alerts", {
      description: "Alerts that have started.",
      unit: "{alert}",
    });
    this.startSeconds = seconds(
      "glovebox.sandbox.start.duration",
      "Time from a sandbox's place to its being ready.",
      startBuckets,
    );
    this.runSeconds = seconds("glovebox.run.duration", "Time of the programs themselves.", runBuckets);
    this.operationSeconds = seconds("glovebox.operation.duration", "Time of operations, waiting included.", runBuckets);
    this.toolSeconds = seconds("gen_ai.execute_tool.duration", "Time of operations that are tools.", runBuckets);
    this.httpSeconds = seconds("http.server.request.duration", "Time of HTTP requests.", httpBuckets);
    this.mcpSeconds = seconds("mcp.server.operation.duration", "Time of MCP requests.", mcpBuckets);
  }

  /** Asks at each reading. */
  followWarmUse(warmUse: () => Readonly<Record<string, WarmUse>>): void {
    const waiting = this.#meter.createObservableUpDownCounter<Labels>("glovebox.warm_sandboxes", {
      description: "Warm sandboxes that wait for a run.",
      unit: "{sandbox}",
    });
    const requests = this.#meter.createObservableCounter<Labels>("glovebox.warm_sandbox.requests", {
      description: "Runs that could use a warm sandbox, by whether they found one.",
      unit: "{run}",
    });
    waiting.addCallback((result) => {
      for (const [engine, use] of Object.entries(warmUse())) {
        result.observe(use.waiting, { "glovebox.engine.name": engine });
      }
    });
    requests.addCallback((result) => {
      for (const [engine, { hits, misses }] of Object.entries(warmUse())) {
        const labels = { "glovebox.engine.name": engine };
        result.observe(hits, { ...labels, "glovebox.warm_sandbox.result": "hit" });
        result.observe(misses, { ...labels, "glovebox.warm_sandbox.result": "miss" });
      }
    });
  }
}
