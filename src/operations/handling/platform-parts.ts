import type { LastFound } from "../../base/last-found.ts";
import type { MakeNotebookCode } from "../../workloads/session/variables/make-notebook-code.ts";
import type { Config, LoadedConfig } from "../../config/config.ts";
import type { Host } from "../../config/host/host.ts";
import type { LoadedMountPolicy } from "../../config/load-mount-policy.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import type { Engines } from "../../engines/discover.ts";
import type { PreviewGateway } from "../../ingress/preview-gateway.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Peers } from "../../peers/peers.ts";
import type { Leases } from "../../sandbox/owners/leases.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { Reaper } from "../../sandbox/owners/reaper.ts";
import type { SandboxRecords } from "../../sandbox/owners/sandbox-records.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { Store } from "../../store/store.ts";
import type { TestReports } from "../../store/test-reports.ts";
import type { SandboxLogs } from "../../telemetry/sandbox-logs.ts";
import type { AlertBook } from "../../telemetry/alert-book.ts";
import type { Sampler } from "../../telemetry/sampler.ts";
import type { ServerMetrics } from "../../telemetry/server-metrics.ts";
import type { AlertSink } from "../../base/alert-sink.ts";
import type { ClearedFiles } from "../../sandbox/clear-setuid-bits.ts";
import type { ToolingReport } from "../../workloads/run/explain-tooling.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { OpenLargeScratch } from "../../workloads/run/open-large-scratch.ts";
import type { WarmSandboxes } from "../../workloads/execute/execution.ts";
import type { Environments } from "../../workloads/environment/environments.ts";
import type { FindMemory } from "../../workloads/agent/find-memory.ts";
import type { AgentTurns } from "../../workloads/agent/agent-turns.ts";
import type { CompileTypeScript } from "../../workloads/program/typescript-compiler.ts";
import type { FindImports } from "../../workloads/program/find-imports.ts";
import type { AgentImages } from "../../workloads/agent/agent-image.ts";
import type { BaseImage } from "../../workloads/session/base-image.ts";
import type { ProvideImage } from "../../workloads/program/ensure-image.ts";
import type { Previews } from "../../workloads/preview/previews.ts";
import type { Sessions } from "../../workloads/session/sessions.ts";
import type { SandboxRow } from "../sandboxes-contract.ts";
import type { EngineChooser } from "./engine-chooser.ts";
import type { Kit } from "../../base/kit.ts";

/** A sandbox that exists now, and how to end it from here. */
export interface FoundSandbox {
  readonly row: SandboxRow;
  /** As in the labels of its container. */
  readonly startedAs: string;
  /** Whether there was a record of it. */
  readonly isRecorded: boolean;
  remove(): Promise<void>;
}

/** The parts of the platform, for handlers: everything except closing it. */
export interface PlatformParts extends EngineChooser, Kit {
  /** Where the values of `config` come from; null if it was built by hand. */
  readonly loaded: LoadedConfig | null;
  /** Engine for requests that name none; overrides the configuration's. */
  readonly defaultEngine: string | undefined;
  readonly config: Config;
  readonly host: Host;
  readonly engines: Engines;
  readonly sandboxes: Sandboxes;
  /** Sandboxes started ahead of one-shot runs; null: there are none. */
  readonly warm: WarmSandboxes | null;
  /** A live sandbox of this process, whatever it is for. */
  findLive(id: string): Sandbox | undefined;
  /** The newest output of each sandbox, line by line. */
  readonly logs: SandboxLogs;
  /** Null: nothing is stored. */
  readonly store: Store | null;
  /** Full reports of test runs that have ended. */
  readonly testReports: TestReports;
  readonly sessions: Sessions;
  readonly previews: Previews;
  /** The ways into previews, for the server that receives their requests. */
  readonly previewGateway: PreviewGateway;
  readonly records: SandboxRecords;
  readonly leases: Leases;
  /** The sandboxes on an engine, or on all of them (""), as they were found last. */
  readonly lastFound: LastFound<FoundSandbox[]>;
  /** The user's other processes; null: requests only concern this one. */
  readonly peers: Pick<Peers, "at" | "addresses"> | null;
  /** Scratch on this machine's disk. */
  readonly diskScratch: DiskScratch;
  readonly openLargeScratch: OpenLargeScratch;
  readonly reaper: Reaper;
  readonly compileTypeScript: CompileTypeScript;
  readonly network: Pick<NetworkAccess, "grant">;
  /** Refuses a network policy that the deployment, or the caller's grant, does not allow. @throws POLICY_DENIED */
  assertNetworkAllowed(policy: NetworkPolicy, field?: string): void;
  /**
   * An image that a request names, as given, unless it is no reference or the caller's grant does not allow it.
   * @throws INVALID_REQUEST, POLICY_DENIED naming the field
   */
  checkImage(reference: string, field?: string): string;
  readonly baseImage: BaseImage;
  readonly agentImages: AgentImages;
  readonly provideImage: ProvideImage;
  readonly findImports: FindImports;
  readonly makeNotebookCode: MakeNotebookCode;
  readonly packages: Packages;
  readonly environments: Environments;
  /** Runs of agents, group by group. */
  readonly agentTurns: AgentTurns;
  readonly findMemory: FindMemory;
  /** Holds the groups' folders if the configuration names no other; null: there is none. */
  readonly agentDirectory: string | null;
  readonly sampler: Sampler;
  readonly alertBook: AlertBook;
  readonly serverMetrics: ServerMetrics;
  readonly tracing: Tracing;
  readonly setuidAlerts: AlertSink<ClearedFiles>;
  readonly toolingAlerts: AlertSink<ToolingReport>;
  /** What sandboxes may currently get of this machine's disk. @throws INVALID_REQUEST for a bad mount allowlist */
  loadMountPolicy(): Promise<LoadedMountPolicy>;
}
