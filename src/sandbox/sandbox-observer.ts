import type { ContainerStats } from "../engines/container-stats.ts";
import type { ContainerLimits } from "../engines/container-spec.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { CallOptions } from "../engines/engine.ts";
import type { RunEnding, StartedRun } from "./run-record.ts";
import type { OutputJoint } from "./sandbox-output.ts";

/** A sandbox that somebody has just got. */
export interface ObservedSandbox {
  readonly sandbox: {
    readonly id: string;
    readonly output: Pick<OutputJoint, "listen">;
    readonly capabilities: Capabilities;
    /** As `Container.stats`. */
    measure(options?: CallOptions): Promise<ContainerStats>;
    /** As `Container.watchStats`. */
    watchStats(listener: (stats: ContainerStats) => void): boolean;
  };
  readonly engine: string;
  readonly kind: string;
  readonly principal: string;
  readonly limits: Pick<ContainerLimits, "cpus" | "memoryBytes">;
  /** How long its caller has waited for it. */
  readonly startMs: number;
}

/** Is told about the life of sandboxes and of their runs as it happens; it is not awaited and does not throw. */
export interface SandboxObserver {
  sandboxOpened?(opened: ObservedSandbox): void;
  /** What it had used, as its own runs read it at their ends. */
  statsRead?(id: string, stats: ContainerStats): void;
  sandboxRemoved?(id: string): void;
  runStarted?(run: StartedRun): void;
  runEnded?(run: StartedRun, end: RunEnding): void;
}
