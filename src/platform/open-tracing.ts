import type { Host } from "../config/host/host.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import { Tracing } from "../telemetry/tracing.ts";
import type { Door } from "./engine-chooser.ts";

/** Servers follow OpenTelemetry's variables; a program that uses the library sets OpenTelemetry up itself. */
export function openTracing({ environment }: Host, door: Door, monotonicMs: () => number): Tracing {
  return new Tracing({
    ...{ environment, monotonicMs, version: readPackageVersion },
    startsSdk: door !== "person",
    stdoutIsTaken: door === "stdio",
  });
}
