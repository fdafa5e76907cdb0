import { expect, it } from "vitest";
import { askedSignals, wantsStdout } from "./asked-signals.ts";

const [none, both] = [
  { traces: false, metrics: false },
  { traces: true, metrics: true },
];

it.each([
  [{}, none],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, none],
  [{ OTEL_SERVICE_NAME: "sandboxes", OTEL_TRACES_SAMPLER: "always_on" }, none],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }, both],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" }, { traces: true, metrics: false }],
  [{ OTEL_METRICS_EXPORTER: "otlp" }, { traces: false, metrics: true }],
  [
    { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "none" },
    { traces: true, metrics: false },
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", OTEL_TRACES_EXPORTER: "none" },
    { traces: false, metrics: true },
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", OTEL_SDK_DISABLED: "True" }, none],
])("%j asks for %j", (environment, asked) => {
  expect(askedSignals(environment)).toEqual(asked);
});

it.each([
  [{}, false],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_LOG_LEVEL: "ERROR" }, false],
  [{ OTEL_TRACES_EXPORTER: "otlp, console" }, true],
  [{ OTEL_METRICS_EXPORTER: "console" }, true],
  [{ OTEL_LOG_LEVEL: "debug" }, true],
])("%j wants standard output: %j", (environment, wants) => {
  expect(wantsStdout(environment)).toBe(wants);
});
