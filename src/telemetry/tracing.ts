import { settlesWithin } from "../base/abort.ts";
import { createId } from "../base/id.ts";
import type { Logger } from "../base/logger.ts";
import {
  noSpan,
  type SpanAttributes,
  type Tracer,
  type OpenSpan,
  type SpanMaker,
  type SpanStart,
} from "../base/tracer.ts";
import { errorCode, toGloveboxError } from "../errors/glovebox-error.ts";
import { askedSignals, wantsStdout } from "./asked-signals.ts";
import type { MeterRecorder, Spans } from "./signals.ts";
import type { StartedSdk } from "./start-sdk.ts";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";

export interface TracingOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of Glovebox. */
  readonly version: () => string;
  /**
   * Whether the variables of OpenTelemetry are ours to follow. A program that uses the library sets its own SDK up, and is
   * given spans when it has.
   */
  readonly startsSdk: boolean;
  /** Whether standard output belongs to a protocol. */
  readonly stdoutIsTaken: boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/**
 * Traces from a request to the calls of the engine, over OpenTelemetry (SPEC ME3). Until `open`, and where nobody asks for
 * traces, it does the work and nothing else, and none of OpenTelemetry's modules is loaded.
 */
export class Tracing implements Tracer, SpanMaker {
  readonly #options: TracingOptions;
  #spans: Spans | undefined;
  #sdk: StartedSdk | undefined;
  /** Is given what takes metrics, once there is one. */
  onMeters: ((meters: MeterRecorder) => void) | null = null;

  constructor(options: TracingOptions) {
    this.#options = options;
  }

  /** Traces from now on, where that is asked for; what hinders it is logged, and hinders nothing else. */
  async open(logger: Logger): Promise<void> {
    const { environment, startsSdk, stdoutIsTaken } = this.#options;
    if (!hostHasSdk()) {
      const signals = askedSignals(environment);
      if (!startsSdk || !(signals.traces || signals.metrics)) return;
      if (stdoutIsTaken && wantsStdout(environment)) {
        logger.warn(
          {},
          "no traces or metrics are sent: OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER or OTEL_LOG_LEVEL wants to write to standard output, which belongs to MCP",
        );
        return;
      }
      try {
        const { startSdk } = await import("./start-sdk.ts");
        const version = this.#options.version();
        this.#sdk = await startSdk({ ...this.#options, signals, version, instance: createId("glovebox"), logger });
      } catch (error) {
        logger.warn({ err: error }, whyNothingIsSent(error));
        return;
      }
    }
    const { MeterRecorder: Meters, Spans: OpenSpans } = await import("./signals.ts");
    this.#spans = new OpenSpans(this.#options.version());
    this.onMeters?.(new Meters(this.#options.version()));
  }

  /** Whether anything is traced. */
  get isOpen(): boolean {
    return this.#spans !== undefined;
  }

  begin(start: SpanStart): OpenSpan {
    return this.#spans?.begin(start) ?? noSpan;
  }

  /** Does the work in its own span. */
  inSpan<Result>(start: SpanStart, work: () => Promise<Result>): Promise<Result> {
    const span = this.#spans?.begin(start);
    return span === undefined ? work() : during(span, work);
  }

  step<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
    const span = this.#spans?.beginStep(name, attributes) ?? null;
    return span === null ? work() : during(span, work);
  }

  /** A step whose end is reported later; null if nothing is traced. */
  beginStep(name: string, attributes: SpanAttributes): OpenSpan | null {
    return this.#spans?.beginStep(name, attributes) ?? null;
  }

  /** The trace at work, for log lines. */
  logFields(): Readonly<Record<string, string>> {
    return this.#spans?.logFields() ?? {};
  }

  /** Sends what waits, within the time; what the collector does not take is lost. */
  async close(withinMs: number): Promise<void> {
    const sdk = this.#sdk;
    this.#spans = undefined;
    this.#sdk = undefined;
    if (sdk !== undefined) await settlesWithin(Promise.allSettled([sdk.shutdown()]), withinMs);
  }
}

/** Programs as steps of the operations that run them. What a program does is a result: only a run without one has failed. */
export class RunSpans implements SandboxObserver {
  readonly #tracing: Pick<Tracing, "beginStep">;
  /** By the run. */
  readonly #open = new Map<string, OpenSpan>();

  constructor(tracing: Pick<Tracing, "beginStep">) {
    this.#tracing = tracing;
  }

  runStarted({ id, sandbox, kind, engine }: StartedRun): void {
    const span = this.#tracing.beginStep(`run ${kind}`, {
      "glovebox.run.id": id,
      "glovebox.sandbox.id": sandbox,
      "glovebox.sandbox.kind": kind,
      "glovebox.engine.name": engine,
    });
    if (span !== null) this.#open.set(id, span);
  }

  runEnded({ id }: StartedRun, { outcome, exitCode, errorType }: RunEnding): void {
    this.#open.get(id)?.end(errorType, {
      "glovebox.run.outcome": outcome,
      "process.exit.code": exitCode ?? undefined,
    });
    this.#open.delete(id);
  }
}

async function during<Result>(span: OpenSpan, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await span.run(work);
    span.end(null);
    return result;
  } catch (error) {
    span.end(toGloveboxError(error).errorType);
    throw error;
  }
}

/** Whether the program that we are a part of has set OpenTelemetry up; this is where its interface keeps what it is given. */
function hostHasSdk(): boolean {
  const given = (globalThis as Readonly<Record<symbol, unknown>>)[Symbol.for("opentelemetry.js.api.1")];
  return typeof given === "object" && given !== null && "trace" in given;
}

function whyNothingIsSent(error: unknown): string {
  return errorCode(error) === "ERR_MODULE_NOT_FOUND"
    ? "no traces or metrics are sent: that needs the package @opentelemetry/sdk-node; install it beside glovebox (`npm install @opentelemetry/sdk-node`), or set OTEL_SDK_DISABLED=true"
    : "no traces or metrics are sent: OpenTelemetry does not start with the variables as they are";
}
