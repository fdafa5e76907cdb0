import type { AlertSink } from "../../base/alert-sink.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { ToolingLook } from "../../sandbox/look-at-tooling.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import type { EnvironmentContainer, EnvironmentContainerParts } from "./environment-container.ts";
import type { ToolingReport } from "../run/explain-tooling.ts";
import type { Kit } from "../../base/kit.ts";

export interface EnvironmentParts
  extends
    Omit<EnvironmentContainerParts, "isBusy" | "onDenied" | "redact">,
    Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly spec: EnvironmentSpec;
  readonly principal: string;
  /** Images that were created for it, each from the one before, and are removed with it. */
  readonly ownImages: readonly string[];
  /** Variables of every process: the deployment's, the network's and the environment's own. */
  readonly variables: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** Undefined: commands cannot change the project. */
  readonly lookAtTooling: (() => Promise<ToolingLook | null>) | undefined;
  readonly toolingAlerts: AlertSink<ToolingReport>;
  /** Called whenever it becomes active or idle. */
  readonly onActivity: (isBusy: boolean) => void;
}

export interface RunOptions {
  /** Its id if the caller has already chosen one; default: a new one. */
  readonly runId?: string | undefined;
  readonly timeoutMs: number;
  /** Standard input of the command; missing: empty. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Newest bytes of each stream that the result has; default 64 KiB. */
  readonly keptBytes?: number | undefined;
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** Receives the id of the sandbox in which the command begins, before any output. */
  readonly onSandbox?: ((sandboxId: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A process that was started, and where. */
export interface Started {
  readonly process: Process;
  /** The redactor of its output. */
  readonly redaction: Redaction;
  readonly container: EnvironmentContainer;
  /** Processes of the container that had been killed for lack of memory before; null: unknown. */
  readonly oomKillsBefore: number | null;
}
