import { afterEach, expect, it, vi } from "vitest";
import { forgetOpenTelemetry } from "../../test/helpers/forget-opentelemetry.ts";
import { receiveOtlp } from "../../test/helpers/otlp-receiver.ts";
import { MeterRecorder } from "./signals.ts";
import { startSdk } from "./start-sdk.ts";

const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

afterEach(() => {
  vi.unstubAllEnvs();
  forgetOpenTelemetry();
});

it("how warm sandboxes are used is asked when metrics are sent", async () => {
  await using collector = await receiveOtlp();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
  vi.stubEnv("OTEL_METRIC_EXPORT_INTERVAL", "600000");
  const sdk = await startSdk({
    ...{ signals: { traces: false, metrics: true }, environment: {}, version: "1", instance: "glovebox-1" },
    ...{ logger: silent, monotonicMs: () => 0 },
  });
  let waiting = 2;
  new MeterRecorder("1").followWarmUse(() => ({ docker: { waiting, hits: 8, misses: 3 } }));
  waiting = 1;
  await sdk.shutdown();
  const [engine, result] = ["glovebox.engine.name", "glovebox.warm_sandbox.result"];
  expect(collector.metrics()).toEqual([
    { name: "glovebox.warm_sandboxes", count: 1, attributes: { [engine]: "docker" } },
    { name: "glovebox.warm_sandbox.requests", count: 8, attributes: { [engine]: "docker", [result]: "hit" } },
    { name: "glovebox.warm_sandbox.requests", count: 3, attributes: { [engine]: "docker", [result]: "miss" } },
  ]);
});
