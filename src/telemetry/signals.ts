import {
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  metrics,
  type Counter,
  type Histogram,
  type Meter,
  type UpDownCounter,
} from "@opentelemetry/api";
import { noSpan, type SpanAttributes, type OpenSpan, type SpanStart } from "../base/tracer.ts";
import type { WarmUse } from "../sandbox/warm-pool.ts";
import { httpBuckets, mcpBuckets, runBuckets, startBuckets } from "./buckets.ts";

/** Characters of one field that are looked at; the longest that a standard has, baggage, may have as many. */
const maxFieldLength = 8192;

/** Of what a stranger sent, the fields that say which trace it belongs to: those that are text, and not too long. */
function carrierFields(carrier: unknown, names: readonly string[]): Record<string, string> {
  if (typeof carrier !== "object" || carrier === null) return {};
  const given = carrier as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      return typeof value === "string" && value.length <= maxFieldLength ? [[name, value] as const] : [];
    }),
  );
}

/** Steps of one request, or of an operation by itself, that become spans; a program that makes it take many more is not to fill the collector. */
export const maxSteps = 128;
/** Characters of one attribute. */
const maxValueLength = 256;

/** How many steps there still may be, and how many there were beyond that. */
interface StepsLeft {
  left: number;
  beyond: number;
}

const stepsKey = createContextKey("glovebox.steps");

/** Spans by OpenTelemetry's interface; where they go is for the SDK that is registered with it. */
export class Spans {
  readonly #tracer;

  constructor(version: string) {
    this.#tracer = trace.getTracer("glovebox", version);
  }

  /**
   * What a request leads to has its steps in common with it: each page of a log that a WebSocket follows for hours is one
   * more. Once it has been answered, nothing of it is traced any more.
   */
  begin({ name, kind, attributes, carrier, parent = "carrier" }: SpanStart): OpenSpan {
    const ambient = context.active();
    const shared = kind === "internal" ? (ambient.getValue(stepsKey) as StepsLeft | undefined) : undefined;
    if (shared !== undefined && !takeStep(shared, ambient)) return noSpan;
    const remote = propagation.extract(ROOT_CONTEXT, carrierFields(carrier, propagation.fields()));
    const [remoteSpan, ambientSpan] = [trace.getSpanContext(remote), trace.getSpanContext(ambient)];
    const isRemote = remoteSpan !== undefined && (parent === "carrier" || ambientSpan === undefined);
    const parentContext = isRemote ? remote : ambient;
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kind === "server" ? SpanKind.SERVER : SpanKind.INTERNAL,
        attributes: bounded(attributes),
        links: isRemote && ambientSpan !== undefined ? [{ context: ambientSpan }] : [],
      },
      parentContext,
    );
    const steps = shared ?? { left: maxSteps, beyond: 0 };
    return openSpan(span, trace.setSpan(parentContext, span).setValue(stepsKey, steps), steps);
  }

  /**
   * A step of the operation at work; null where none is traced, where it has ended, and where it had all its steps.
   * What an operation leaves behind, such as a timer, is no step of it, however long it goes on.
   */
  beginStep(name: string, attributes: SpanAttributes): OpenSpan | null {
    const ambient = context.active();
    const steps = ambient.getValue(stepsKey) as StepsLeft | undefined;
    if (steps === undefined || !takeStep(steps, ambient)) return null;
    const span = this.#tracer.startSpan(name, { attributes: bounded(attributes) }, ambient);
    return openSpan(span, trace.setSpan(ambient, span), null);
  }

  /** The trace and span at work, as log lines name them; nothing where there is none. */
  logFields(): Readonly<Record<string, string>> {
    const active = trace.getSpanContext(context.active());
    return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
  }
}

/** Whether there is one more, of a span that has not ended. */
function takeStep(steps: StepsLeft, within: Context): boolean {
  if (trace.getSpan(within)?.isRecording() !== true) return false;
  if (steps.left === 0) steps.beyond += 1;
  else steps.left -= 1;
  return steps.beyond === 0;
}

function openSpan(span: Span, within: Context, steps: StepsLeft | null): OpenSpan {
  return {
    run: (work) => context.with(within, work),
    end: (errorType, attributes = {}) => {
      if (!span.isRecording()) return;
      const untraced = steps?.beyond ? { "glovebox.untraced_steps": steps.beyond } : {};
      span.setAttributes(bounded({ ...attributes, ...untraced, "error.type": errorType ?? undefined }));
      if (errorType !== null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function bounded(attributes: SpanAttributes): Attributes {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === "string" ? value.slice(0, maxValueLength) : value]),
  );
}

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
