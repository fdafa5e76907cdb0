import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { ProjectRunDependencies } from "../../workloads/project/project-run.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { PlatformParts } from "./platform-parts.ts";

/** Receives the events of all work a call does, and passes them to the caller. */
export interface CallListener {
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
  platform: PlatformParts,
  engine: Engine,
  call: OperationCall,
): (image: string, origin: ImageOrigin) => Promise<void> {
  const { signal } = call;
  return (image, origin) => platform.provideImage({ image, origin }, engine, { signal, ...callListener(call) });
}

type ProjectRunParts = Omit<PlatformParts, keyof ProjectRunDependencies> & ProjectRunDependencies;

/** What every run in a project gets from the platform, depending on the engine and the call. */
export function projectRunParts(platform: PlatformParts, engine: Engine, call: OperationCall): ProjectRunParts {
  const { config, host } = platform;
  return {
    ...platform,
    engine,
    maxOutputBytes: config.maxOutputBytes,
    platform: host.platform,
    executable: host.executable,
    provideImage: imageProvider(platform, engine, call),
  };
}
