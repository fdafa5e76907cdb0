import { metrics, type Counter, type Histogram, type UpDownCounter } from "@opentelemetry/api";
import { httpBuckets, mcpBuckets, runBuckets, startBuckets } from "../prometheus/buckets.ts";

type Labels = Readonly<Record<string, string | number>>;

/**
 * The server's own metrics by OpenTelemetry's interface; where they go is for the SDK that is registered with it. Labels
 * are words of ours, as for Prometheus: never a name of a host, an id or anything else that a request chose.
 */
export class MeterRecorder {
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
}
