import { expect, it } from "vitest";
import { noSpan } from "../base/tracer.ts";
import { Tracing, type TracingOptions } from "./tracing.ts";

const ignore = (): void => undefined;
const otlp = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
const server = { version: () => "1", startsSdk: true, stdoutIsTaken: false, monotonicMs: () => 0 };
const cases: readonly [string, TracingOptions, string][] = [
  ["where nobody asks for them", { ...server, environment: {} }, ""],
  ["in a program that uses the library", { ...server, environment: otlp, startsSdk: false }, ""],
  [
    "where they would go to the standard output of a protocol",
    { ...server, environment: { OTEL_TRACES_EXPORTER: "console" }, stdoutIsTaken: true },
    "belongs to MCP",
  ],
];

it.each(cases)("traces are off %s", async (_, options, said) => {
  const warnings: string[] = [];
  const tracing = new Tracing(options);
  await tracing.open({
    debug: ignore,
    info: ignore,
    warn: (_fields, message) => void warnings.push(message),
    error: ignore,
  });
  expect(tracing.isOpen).toBe(false);
  expect(tracing.begin({ name: "request", kind: "server", attributes: {} })).toBe(noSpan);
  expect(await tracing.inSpan({ name: "call", kind: "internal", attributes: {} }, () => Promise.resolve(42))).toBe(42);
  expect(await tracing.step("step", {}, () => Promise.resolve(42))).toBe(42);
  expect([tracing.beginStep("step", {}), tracing.logFields()]).toEqual([null, {}]);
  expect(warnings).toHaveLength(said === "" ? 0 : 1);
  expect(warnings.join("")).toContain(said);
  await tracing.close(1_000);
});
