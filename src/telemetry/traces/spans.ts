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
} from "@opentelemetry/api";
import type { SpanAttributes } from "../../base/tracer.ts";
import { carrierFields } from "./carrier-fields.ts";
import type { OpenSpan, SpanStart } from "../../base/span.ts";

/** Steps of one operation that become spans; a program that makes it take many more is not to fill the collector. */
export const maxSteps = 128;
/** Characters of one attribute. */
const maxValueLength = 256;

/** How many steps an operation still may have, and how many it had beyond that. */
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

  begin({ name, kind, attributes, carrier, parent = "carrier" }: SpanStart): OpenSpan {
    const ambient = context.active();
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
    const steps: StepsLeft = { left: maxSteps, beyond: 0 };
    return openSpan(span, trace.setSpan(parentContext, span).setValue(stepsKey, steps), steps);
  }

  /**
   * A step of the operation at work; null where none is traced, where it has ended, and where it had all its steps.
   * What an operation leaves behind, such as a timer, is no step of it, however long it goes on.
   */
  beginStep(name: string, attributes: SpanAttributes): OpenSpan | null {
    const ambient = context.active();
    const steps = ambient.getValue(stepsKey) as StepsLeft | undefined;
    if (steps === undefined || trace.getSpan(ambient)?.isRecording() !== true) return null;
    if (steps.left === 0) {
      steps.beyond += 1;
      return null;
    }
    steps.left -= 1;
    const span = this.#tracer.startSpan(name, { attributes: bounded(attributes) }, ambient);
    return openSpan(span, trace.setSpan(ambient, span), null);
  }

  /** The trace and span at work, as log lines name them; nothing where there is none. */
  logFields(): Readonly<Record<string, string>> {
    const active = trace.getSpanContext(context.active());
    return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
  }
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
