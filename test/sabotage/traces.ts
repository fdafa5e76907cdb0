import type { Sabotage } from "./sabotage.ts";

const spans = "src/telemetry/traces/spans.ts";
const spansTest = "src/telemetry/traces/spans.test.ts";

export const tracesSabotages: readonly Sabotage[] = [
  {
    id: "traces: what an operation leaves behind goes on being traced",
    file: spans,
    find: "if (steps === undefined || trace.getSpan(ambient)?.isRecording() !== true) return null;",
    replace: "if (steps === undefined) return null;",
    test: spansTest,
    name: "are spans of the operation at work",
  },
  {
    id: "traces: steps without number",
    file: spans,
    find: "steps.left -= 1;",
    replace: "",
    test: spansTest,
    name: "are bounded",
  },
  {
    id: "traces: inherited fields of a carrier are taken",
    file: "src/telemetry/traces/carrier-fields.ts",
    find: "Object.hasOwn(given, name) ? given[name] : undefined",
    replace: "given[name]",
    test: spansTest,
    name: "is a new one for an inherited one",
  },
  {
    id: "traces: the transport's span goes before the message's own",
    file: spans,
    find: 'parent = "carrier" }',
    replace: 'parent = "ambient" }',
    test: spansTest,
    name: "is a message's own",
  },
  {
    id: "traces: attributes of any length",
    file: spans,
    find: "value.slice(0, maxValueLength)",
    replace: "value",
    test: spansTest,
    name: "attributes are short",
  },
  {
    id: "traces: the SDK looks up the host's name and the command line",
    file: "src/telemetry/traces/start-sdk.ts",
    find: "resourceDetectors: [{ detect: () => ({ attributes: resourceAttributes(options) }) }],",
    replace: "",
    test: "test/e2e/traces.test.ts",
    name: "lead from a request to the calls of the engine",
  },
  {
    id: "traces: strangers are traced",
    file: "src/http/routes/trace-requests.ts",
    find: 'app.addHook("onRequest", async (request, reply) => {',
    replace: 'app.addHook("onRequest", async (request, reply) => { request.caller ??= { principal: "nobody" };',
    test: "test/e2e/traces.test.ts",
    name: "lead from a request to the calls of the engine",
  },
  {
    id: "traces: the end does not send what waits",
    file: "src/telemetry/traces/tracing.ts",
    find: "await settlesWithin(Promise.allSettled([sdk.shutdown()]), withinMs);",
    replace: "await settlesWithin(Promise.resolve(), withinMs);",
    test: "test/e2e/traces.test.ts",
    name: "lead from a request to the calls of the engine",
  },
  {
    id: "metrics over OpenTelemetry: sandboxes that have ended are counted as live",
    file: "src/telemetry/prometheus/server-metrics.ts",
    find: "this.#meters?.sandboxes.add(-1, meterLabels(labels));",
    replace: "",
    test: "test/e2e/traces.test.ts",
    name: "lead from a request to the calls of the engine",
  },
  {
    id: "traces: a warning for every batch that a collector does not take",
    file: "src/telemetry/traces/diagnostics.ts",
    find: "if (monotonicMs() < quietUntilMs) return debug(message);",
    replace: "",
    test: "src/telemetry/traces/diagnostics.test.ts",
    name: "worth one warning",
  },
];
