import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import type { ToolingFilesMode } from "../../policy/tooling-files.ts";
import type { AgentCommand } from "./agent-protocol.ts";
import type { AgentFolderPaths, AgentGroup, AgentFolders } from "./agent-folders.ts";
import type { HostMount } from "../run/host-mount.ts";
import type { Settings } from "../run/settings.ts";
import type { AlertSink } from "../../base/alert-sink.ts";
import type { Logger } from "../../base/logger.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine, OutputChunk } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { RunIds } from "../run/conclude-run.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { FindMemory } from "./find-memory.ts";
import type { AgentTurns } from "./agent-turns.ts";
import type { ToolingReport } from "../run/explain-tooling.ts";
import type { GuardedFolders } from "../run/guard-folders.ts";

/** A checked run of an agent (SPEC AG1); every value is within the policy already. */
export interface AgentSpec extends Omit<Settings, "environment" | "hostEnvironment"> {
  readonly group: AgentGroup;
  readonly prompt: string;
  /** Conversation of an earlier run to continue; undefined: a new one. */
  readonly sessionId: string | undefined;
  readonly agent: AgentCommand;
  readonly image: string;
  /** A group's own image is configured. */
  readonly imageOrigin: ImageOrigin;
  readonly paths: AgentFolderPaths;
  /** Opens what the group's configuration mounts in addition to its own folders; the run closes it. */
  readonly openAdditional: () => Promise<readonly HostMount[]>;
  readonly mountPolicy: MountPolicy;
  /** What happens to files run by the folder owner's tools: the deployment's choice. */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths that count as such in addition to the built-in ones. */
  readonly toolingPaths: readonly string[];
  /** What the agent finds in its environment file; most are secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many of the group's logs to keep, newest first, including this run's. */
  readonly maxLogs: number;
  readonly memory: { readonly minRelevance: number; readonly maxCharacters: number };
}

export interface AgentDependencies extends Omit<GuardedFolders, "mounts" | "diskBytes" | "words"> {
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly logger: Logger;
  readonly turns: AgentTurns;
  readonly findMemory: FindMemory;
  readonly network: GrantNetwork;
  readonly toolingAlerts: AlertSink<ToolingReport>;
  /** Makes sure that an image exists, by pulling or building it. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  /** Cap of each stream (SPEC OU3). */
  readonly maxOutputBytes: number;
  /** User id of this process; null if the system has none. */
  readonly uid: number | null;
}

/** What a run reports while it is in progress. */
export interface AgentListener {
  readonly onSandbox: (sandboxId: string) => void;
  /** What the agent says and does, for people, and its standard error. */
  readonly onOutput: (stream: OutputChunk["stream"], bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** Progress before the agent starts. */
  readonly onProgress: (message: string) => void;
}

/** One run: the request, its principal, and who receives events. */
export interface AgentRun {
  readonly spec: AgentSpec;
  readonly dependencies: AgentDependencies;
  readonly caller: Caller;
  readonly listener: AgentListener;
  readonly ids: RunIds;
}

/** What a run needs in addition to its sandbox, all of it ready. */
export interface ReadyAgent {
  readonly capabilities: Capabilities;
  readonly folders: AgentFolders;
  readonly mounts: readonly HostMount[];
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  readonly memoryContext: string | null;
  readonly warnings: readonly string[];
}
