import { toField, type Limits } from "../policy/limits.ts";
import { mebibyte } from "../base/bytes.ts";
import type { GloveboxError } from "../errors/glovebox-error.ts";
import { maxResultAlerts, type ProgramResponse, type RunResponse, type WireAlert } from "./contract/program-schema.ts";
import type { ProgramResult } from "../workloads/run/program-result.ts";
import { withLimitAdvice, type RunLimits, type StartNeeds } from "./settle.ts";
import type { AlertBook } from "../telemetry/alert-book.ts";
import type { Engine, PullProgress } from "../engines/engine.ts";
import type { ImageOrigin } from "../policy/image-reference.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { ProjectRunDependencies } from "../workloads/project/project-run.ts";
import type { OperationCall } from "./contract/operation-contract.ts";

/** Limits in the wire's units. */
export function limitsToWire(limits: Limits): {
  cpus: number;
  memory_mb: number;
  timeout_seconds: number;
  pids: number;
  disk_mb: number;
} {
  return {
    cpus: toField("cpus", limits),
    memory_mb: toField("memory_mb", limits),
    timeout_seconds: toField("timeout_seconds", limits),
    pids: toField("pids", limits),
    disk_mb: toField("disk_mb", limits),
  };
}

/** What the results of all runs contain, whatever ran. */
type RunFacts = Pick<
  ProgramResult,
  | "outcome"
  | "exitCode"
  | "durationMs"
  | "memoryPeakBytes"
  | "truncated"
  | "engine"
  | "isolation"
  | "ociRuntime"
  | "policyDigest"
  | "warnings"
  | "error"
>;

/** A program's result on the wire; `notes` come before its own warnings. */
export function programToWire(result: ProgramResult, notes: readonly string[], limits: RunLimits): ProgramResponse {
  const { stdout, stderr, sandboxId } = result;
  return { ...runToWire(result, notes, limits), stdout, stderr, sandbox_id: sandboxId };
}

/** The part that the responses of all runs have in common. */
export function runToWire(result: RunFacts, notes: readonly string[], limits: RunLimits): RunResponse {
  const { memoryPeakBytes: peak } = result;
  return {
    outcome: result.outcome,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    memory_used_mb: peak === null ? null : Math.round((peak / mebibyte) * 10) / 10,
    timed_out: result.outcome === "timed_out",
    truncated: result.truncated,
    engine: result.engine,
    isolation: result.isolation,
    ...(result.ociRuntime === null ? {} : { oci_runtime: result.ociRuntime }),
    ...(result.policyDigest === null ? {} : { policy_digest: result.policyDigest }),
    warnings: [...notes, ...result.warnings],
    ...errorOfRun(result.error, limits),
  };
}

/** The field `error` of a run's response. */
export function errorOfRun(error: GloveboxError | null, limits: RunLimits): Pick<RunResponse, "error"> {
  return error === null ? {} : { error: withLimitAdvice(error, limits).toWire() };
}

/** The field `alerts` of a result: what happened to its sandbox since a given time; absent if nothing did. */
export function resultAlertsSince(
  alertBook: Pick<AlertBook, "since">,
  mark: number,
  sandboxId: string,
): { alerts?: WireAlert[] } {
  const alerts = alertBook.since(mark, sandboxId).slice(-maxResultAlerts);
  return alerts.length === 0 ? {} : { alerts: [...alerts] };
}

/** Receives the events of all work a call does, and passes them to the caller. */
interface CallListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** Something slow has begun. */
  readonly onProgress: (message: string) => void;
  readonly onPull: (image: string, progress: PullProgress) => void;
  /** A line that the build of an image printed. */
  readonly onBuild: (image: string, line: string) => void;
}

/** What a caller receives while its call is running; `name`: what the sandbox is named. */
export function callListener({ onEvent }: OperationCall, name?: string): CallListener {
  const onProgress = (message: string, fraction: number | null = null): void =>
    void onEvent?.({ type: "progress", message, fraction });
  return {
    onSandbox: (sandboxId) => void onEvent?.({ type: "sandbox", sandboxId, ...(name === undefined ? {} : { name }) }),
    onOutput: (stream, bytes) => onEvent?.({ type: "output", stream, bytes }),
    onDenied: (denial) => void onEvent?.({ type: "denied", denial }),
    onProgress: (message) => onProgress(message),
    onPull: (image, { status, currentBytes, totalBytes }) =>
      onProgress(
        `Pulling ${image}: ${status}`,
        currentBytes === null || !totalBytes ? null : currentBytes / totalBytes,
      ),
    onBuild: (image, line) => onProgress(`Building ${image}: ${line}`),
  };
}

/** Pulls or builds a call's image if the engine does not have it; the caller sees the progress. */
export function imageProvider(
  platform: Pick<StartNeeds, "provideImage">,
  engine: Engine,
  call: OperationCall,
): (image: string, origin: ImageOrigin) => Promise<void> {
  const { signal } = call;
  return (image, origin) => platform.provideImage({ image, origin }, engine, { signal, ...callListener(call) });
}

type OfEngineAndCall = Pick<ProjectRunDependencies, "engine" | "provideImage" | "maxOutputBytes">;

/** What every run in a project gets from the platform, depending on the engine and the call. */
export function projectRunParts<Needs extends StartNeeds>(
  platform: Needs,
  engine: Engine,
  call: OperationCall,
): Omit<Needs, keyof OfEngineAndCall> & OfEngineAndCall {
  const { config } = platform;
  return {
    ...platform,
    engine,
    maxOutputBytes: config.maxOutputBytes,
    provideImage: imageProvider(platform, engine, call),
  };
}
