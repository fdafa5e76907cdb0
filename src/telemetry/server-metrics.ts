import { knownMethods } from "../base/tracer.ts";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { ObservedSandbox, SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Alert } from "./alert-book.ts";
import type { MeterRecorder } from "./signals.ts";
import type { MetricSources, PrometheusRecorder } from "./recorder.ts";

/** Values of one label that are counted by themselves: a few times as many as any has that are words of ours. */
const maxValues = 256;
/** All others. */
const other = "_OTHER";

/**
 * Bounds what labels may say, whoever chose it: each distinct value is a series that is kept until the server ends. Labels are
 * words of ours; this is for the one that is not.
 */
class BoundedLabels {
  readonly #values = new Map<string, Set<string>>();

  /** The same labels, with `_OTHER` for a value that is one too many of its label. */
  of<Name extends string>(labels: Readonly<Record<Name, string>>): Record<Name, string> {
    const bounded: Record<string, string> = {};
    for (const [name, value] of Object.entries<string>(labels)) bounded[name] = this.#value(name, value);
    return bounded;
  }

  #value(name: string, value: string): string {
    const known = this.#values.get(name) ?? new Set();
    this.#values.set(name, known);
    if (known.has(value)) return value;
    if (known.size >= maxValues) return other;
    known.add(value);
    return value;
  }
}

/** An operation that has been answered or refused. */
export interface EndedOperation {
  readonly operation: string;
  /** Whether agents have it as a tool. */
  readonly isTool: boolean;
  /** Null: answered. */
  readonly errorType: string | null;
  readonly durationMs: number;
}

/** A request of HTTP that has been answered. */
export interface EndedHttpRequest {
  readonly method: string;
  /** As the route is written, such as `/api/sandbox/{sandbox_id}`; never the path that was asked for. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** A request of MCP that has been answered. */
export interface EndedMcpRequest {
  readonly method: string;
  /** One that is offered; null for other requests. */
  readonly tool: string | null;
  /** Null: answered. */
  readonly errorType: string | null;
  readonly durationMs: number;
}

/** The metrics as Prometheus reads them. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

/**
 * The server's own metrics (SPEC ME3). Nothing is counted before `open`, which only servers call: the package that counts
 * takes a command of 50 ms as long again to load.
 */
export class ServerMetrics implements SandboxObserver {
  readonly #sources: MetricSources;
  readonly #labels = new BoundedLabels();
  readonly #live = new Map<string, Pick<ObservedSandbox, "engine" | "kind">>();
  #opening: Promise<void> | undefined;
  #recorder: PrometheusRecorder | undefined;
  #meters: MeterRecorder | undefined;

  constructor(sources: MetricSources) {
    this.#sources = sources;
  }

  /** Counts from now on. */
  async open(): Promise<void> {
    this.#opening ??= import("./recorder.ts").then(({ PrometheusRecorder: Recorder }) => {
      this.#recorder = new Recorder(this.#sources);
    });
    await this.#opening;
  }

  /** Sends the same to OpenTelemetry from now on. */
  sendTo(meters: MeterRecorder): void {
    this.#meters = meters;
    meters.followWarmUse(this.#sources.warmUse);
  }

  /** Opens what has not been. */
  async page(): Promise<MetricsPage> {
    await this.open();
    const registry = this.#recorder?.registry;
    if (registry === undefined) throw new TypeError("The metrics have been closed.");
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  close(): void {
    this.#recorder?.registry.clear();
    this.#recorder = undefined;
  }

  sandboxOpened({ sandbox, engine, kind, startMs }: ObservedSandbox): void {
    if ((this.#recorder ?? this.#meters) === undefined) return;
    const labels = this.#labels.of({ engine, kind });
    this.#live.set(sandbox.id, labels);
    this.#recorder?.sandboxes.inc(labels);
    this.#recorder?.started.inc(labels);
    this.#recorder?.startSeconds.observe(labels, startMs / 1_000);
    this.#meters?.sandboxes.add(1, meterLabels(labels));
    this.#meters?.startSeconds.record(startMs / 1_000, meterLabels(labels));
  }

  sandboxRemoved(id: string): void {
    const labels = this.#live.get(id);
    if (labels === undefined || !this.#live.delete(id)) return;
    this.#recorder?.sandboxes.dec(labels);
    this.#recorder?.removed.inc(labels);
    this.#meters?.sandboxes.add(-1, meterLabels(labels));
  }

  alertTold({ kind, state }: Alert): void {
    if (state !== "start") return;
    const labels = this.#labels.of({ kind });
    this.#recorder?.alerts.inc(labels);
    this.#meters?.alerts.add(1, { "glovebox.alert.kind": labels.kind });
  }

  runEnded({ engine, kind }: StartedRun, { outcome, durationMs }: RunEnding): void {
    const labels = this.#labels.of({ engine, kind, outcome });
    this.#recorder?.runs.inc(labels);
    if (durationMs === null) return;
    this.#recorder?.runSeconds.observe({ engine: labels.engine, kind: labels.kind }, durationMs / 1_000);
    const meterOnes = { ...meterLabels(labels), "glovebox.run.outcome": labels.outcome };
    this.#meters?.runSeconds.record(durationMs / 1_000, meterOnes);
  }

  operationEnded({ operation: name, isTool, errorType, durationMs }: EndedOperation): void {
    const labels = this.#labels.of({ operation: name, error_type: errorType ?? "" });
    const { operation } = labels;
    this.#recorder?.operationSeconds.observe(labels, durationMs / 1_000);
    const failed = failureLabel(labels.error_type);
    this.#meters?.operationSeconds.record(durationMs / 1_000, { "glovebox.operation.name": operation, ...failed });
    if (isTool) this.#meters?.toolSeconds.record(durationMs / 1_000, { "gen_ai.tool.name": operation, ...failed });
  }

  httpRequestEnded({ method, route, status, durationMs }: EndedHttpRequest): void {
    const labels = this.#labels.of({
      http_request_method: knownMethods.has(method) ? method : "_OTHER",
      http_route: route,
      http_response_status_code: String(status),
    });
    this.#recorder?.httpSeconds.observe(labels, durationMs / 1_000);
    this.#meters?.httpSeconds.record(durationMs / 1_000, {
      "http.request.method": labels.http_request_method,
      "url.scheme": "http",
      ...(route === "" ? {} : { "http.route": labels.http_route }),
      "http.response.status_code": status,
      ...failureLabel(status >= 500 ? labels.http_response_status_code : ""),
    });
  }

  mcpRequestEnded({ method, tool, errorType, durationMs }: EndedMcpRequest): void {
    const labels = this.#labels.of({
      mcp_method_name: method,
      gen_ai_tool_name: tool ?? "",
      error_type: errorType ?? "",
    });
    this.#recorder?.mcpSeconds.observe(labels, durationMs / 1_000);
    this.#meters?.mcpSeconds.record(durationMs / 1_000, {
      "mcp.method.name": labels.mcp_method_name,
      ...(tool === null
        ? {}
        : { "gen_ai.tool.name": labels.gen_ai_tool_name, "gen_ai.operation.name": "execute_tool" }),
      ...failureLabel(labels.error_type),
    });
  }
}

/** A label by OpenTelemetry's conventions: none where nothing went wrong. */
function failureLabel(errorType: string): { readonly "error.type"?: string } {
  return errorType === "" ? {} : { "error.type": errorType };
}

function meterLabels({ engine, kind }: Pick<ObservedSandbox, "engine" | "kind">): Readonly<Record<string, string>> {
  return { "glovebox.engine.name": engine, "glovebox.sandbox.kind": kind };
}
