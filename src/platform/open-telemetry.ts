import type pinoModule from "pino";
import {
  changedTooling,
  clearedSetuidBits,
  EventAlerts,
  previewTroubles,
  refusedConnections,
  UsageAlerts,
} from "../telemetry/alerts.ts";
import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { ClearedFiles } from "../sandbox/setuid-watch.ts";
import type { ToolingReport } from "../workloads/run/explain-tooling.ts";
import type { PreviewError } from "../workloads/preview/error-scanner.ts";
import { Traffic } from "../egress/egress-connection.ts";
import type { Limits } from "../policy/limits.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import { AlertBook, type Alert, type AlertListener } from "../telemetry/alert-book.ts";
import { Sampler, type MetricsSample } from "../telemetry/sampler.ts";
import type { MetricSources } from "../telemetry/recorder.ts";
import { ServerMetrics } from "../telemetry/server-metrics.ts";
import { RunSpans, Tracing } from "../telemetry/tracing.ts";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import type { Host } from "../config/host/host.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import type { Door } from "./engine-chooser.ts";
import { createRequire } from "node:module";
import { logLevels, type LogLevel } from "../config/config.ts";

/** What is reported about live sandboxes. */
export interface TelemetryParts {
  readonly networkAlerts: AlertSink<Denial>;
  readonly setuidAlerts: AlertSink<ClearedFiles>;
  readonly toolingAlerts: AlertSink<ToolingReport>;
  readonly previewAlerts: AlertSink<PreviewError>;
  readonly alertBook: AlertBook;
  readonly sampler: Sampler;
  readonly serverMetrics: ServerMetrics;
  readonly tracing: Tracing;
  readonly traffic: Traffic;
  /** Must observe every sandbox, including those of installers. */
  readonly observers: readonly SandboxObserver[];
  readonly installerObservers: readonly SandboxObserver[];
}

interface TelemetryOptions {
  readonly kit: Kit;
  readonly tracing: Tracing;
  /** Upper limits for every sandbox. */
  readonly ceilings: Pick<Limits, "cpus" | "memoryBytes">;
  /** Requests that wait for a slot. */
  readonly waiting: () => number;
  /** How warm sandboxes are used. */
  readonly warmUse: MetricSources["warmUse"];
  /** Log entries that were dropped, by where. */
  readonly droppedEntries: () => Readonly<Record<string, number>>;
  /** The queues to the store and to Redis, by their names. */
  readonly sinks: MetricSources["sinks"];
  /** Receives every alert of every sandbox; if it throws, that is logged and has no other effect. */
  readonly onAlert: AlertListener | undefined;
  /** Receives the samples of each principal's sandboxes; does not throw. */
  readonly onSample: (sandbox: string, principal: string, sample: MetricsSample) => void;
}

/** Samples, metrics and alerts: every alert is logged, kept for its sandbox's principal and passed to the listener. */
export function openTelemetryParts({
  kit,
  tracing,
  ceilings,
  waiting,
  warmUse,
  droppedEntries,
  sinks,
  onAlert,
  onSample,
}: TelemetryOptions): TelemetryParts {
  const { logger, now } = kit;
  const alertBook = new AlertBook();
  const traffic = new Traffic();
  const samples = (): Readonly<Record<string, number>> => ({ ...sampler.counts });
  const serverMetrics = new ServerMetrics({ waiting, warmUse, droppedEntries, sinks, samples });
  tracing.onMeters = (meters) => serverMetrics.sendTo(meters);
  const tellAlert = (alert: Alert): void => {
    logger.info({ alert }, "alert");
    alertBook.add(alert);
    serverMetrics.alertTold(alert);
    try {
      onAlert?.(alert);
    } catch (error) {
      logger.warn({ err: error }, "the listener of alerts failed");
    }
  };
  const usageAlerts = new UsageAlerts(tellAlert, ceilings, now);
  const sampler = new Sampler({
    trafficOf: (sandbox) => traffic.find(sandbox),
    onSample: (sandbox, sample, stats) => {
      usageAlerts.sampled(sandbox, sample);
      const principal = sampler.find(sandbox)?.principal ?? null;
      if (principal !== null) onSample(sandbox, principal, sample);
      usageAlerts.statsRead(sandbox, stats);
    },
    ...kit,
  });
  const trafficEnd: SandboxObserver = { sandboxRemoved: (id) => traffic.forget(id) };
  const installerObservers = [alertBook, trafficEnd];
  return {
    networkAlerts: new EventAlerts(refusedConnections, tellAlert, now),
    setuidAlerts: new EventAlerts(clearedSetuidBits, tellAlert, now),
    toolingAlerts: new EventAlerts(changedTooling, tellAlert, now),
    previewAlerts: new EventAlerts(previewTroubles, tellAlert, now),
    alertBook,
    sampler,
    serverMetrics,
    tracing,
    traffic,
    observers: [...installerObservers, sampler, usageAlerts, serverMetrics, new RunSpans(tracing)],
    installerObservers,
  };
}

/** Servers follow OpenTelemetry's variables; a program that uses the library sets OpenTelemetry up itself. */
export function openTracing({ environment }: Host, door: Door, monotonicMs: () => number): Tracing {
  return new Tracing({
    ...{ environment, monotonicMs, version: readPackageVersion },
    startsSdk: door !== "person",
    stdoutIsTaken: door === "stdio",
  });
}

/** What decides which entries of the log on stderr are written, and how. */
interface StderrLogOptions {
  /** Entries that are less severe are left out. */
  readonly least: LogLevel;
  /** Fields that every line of a running call has. */
  readonly fieldsOfCall: () => Readonly<Record<string, unknown>>;
  /** Makes what writes the lines, for the first of them; default: one JSON object a line. */
  readonly openLog?: (() => Logger) | undefined;
}

/**
 * The log on stderr: stdout belongs to programs and protocols. Its library is loaded for the first line that is severe
 * enough, which most commands never write.
 */
export function stderrLogger({ least, fieldsOfCall, openLog }: StderrLogOptions): Logger {
  let opened: Logger | undefined;
  const openJson = (): Logger => {
    const pino = createRequire(import.meta.url)("pino") as typeof pinoModule;
    return pino({ name: "glovebox", level: least }, pino.destination({ dest: 2, sync: true }));
  };
  const open = openLog ?? openJson;
  const at = (level: keyof Logger): Logger["info"] =>
    least !== "silent" && logLevels.indexOf(level) <= logLevels.indexOf(least)
      ? (fields, message) => (opened ??= open())[level]({ ...fieldsOfCall(), ...fields }, message)
      : () => undefined;
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
