import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host.ts";
import type { LoadedMountPolicy } from "../config/mounts/load-mount-policy.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import type { Engines, ChosenEngine } from "../engines/discover.ts";
import type { Packages } from "../packages/packages.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { Leases } from "../sandbox/leases.ts";
import type { Reaper } from "../sandbox/reaper.ts";
import type { SandboxRecords } from "../sandbox/sandbox-records.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { AlertListener } from "../telemetry/alert.ts";
import type { SetuidAlerts } from "../telemetry/setuid-alerts.ts";
import type { ToolingAlerts } from "../telemetry/tooling-alerts.ts";
import type { Environments } from "../workloads/environment/environments.ts";
import type { BaseImage } from "../workloads/session/base-image/base-image.ts";
import type { FindImports } from "../workloads/program/find-imports.ts";
import type { ProvideImage } from "../workloads/session/open-session-sandbox.ts";
import type { Sessions } from "../workloads/session/sessions.ts";
import type { CompileTypeScript } from "../workloads/program/typescript-compiler.ts";

/**
 * Through which kind of door requests come in: a person's own (command line, library), where they may accept level
 * `preload` by name; `stdio`, an agent on that person's machine; or a `server`, for which the embedded engine never
 * stands in for containers (SPEC RT2, RT5).
 */
export type Door = "own-machine" | "stdio" | "server";

export interface PlatformOptions {
  readonly config: Config;
  readonly host: Host;
  readonly door: Door;
  /** Engine of requests that name none; default: the configuration's `container_runtime`. */
  readonly defaultEngine?: string | undefined;
  /** Hears of every alert of every sandbox. */
  readonly onAlert?: AlertListener | undefined;
}

export type { Alert } from "../telemetry/alert.ts";

/** `session` for `run_code` and what belongs to its session; `other` for all else. */
export type IsolationKind = "session" | "other";

/** What a request needs of its engine. */
export interface EngineNeeds {
  /** Default: what the deployment demands. */
  readonly minIsolation?: Isolation | undefined;
  /** Whether only containers of images do, so that the embedded engine never stands in. Default false. */
  readonly containers?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Everything that lives as long as the process does, made once and closed once. */
export interface Platform extends AsyncDisposable {
  readonly config: Config;
  readonly host: Host;
  readonly engines: Engines;
  readonly sandboxes: Sandboxes;
  /** A live sandbox of this process, whatever it is for. */
  findLive(id: string): Sandbox | undefined;
  readonly sessions: Sessions;
  readonly records: SandboxRecords;
  readonly leases: Leases;
  readonly reaper: Reaper;
  readonly logger: Logger;
  /**
   * The isolation that a request demands, its own or the deployment's. Sessions over stdio whose deployment says nothing
   * take what the host reaches (SPEC RT5).
   * @throws POLICY_DENIED for less than the deployment demands, where that is not the request's to accept
   */
  minIsolation(kind: IsolationKind, requested?: Isolation): Isolation;
  readonly compileTypeScript: CompileTypeScript;
  readonly network: NetworkAccess;
  readonly baseImage: BaseImage;
  readonly provideImage: ProvideImage;
  readonly findImports: FindImports;
  readonly packages: Packages;
  readonly environments: Environments;
  readonly setuidAlerts: SetuidAlerts;
  readonly toolingAlerts: ToolingAlerts;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The engine that a request names, or the deployment's, known to answer. */
  chooseEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /** The same for `run_code`, whose engine is the embedded one unless the deployment says containers (SPEC RT4). */
  chooseSessionEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /**
   * Asks the engine that must be there from the start: in container mode, and where one was named (SPEC RT1).
   * @throws ENGINE_UNAVAILABLE with its start instructions
   */
  assertEngineAnswers(signal?: AbortSignal): Promise<void>;
  /** What of this machine's disk sandboxes may get at this moment. @throws INVALID_REQUEST for a bad mount allowlist */
  loadMountPolicy(): Promise<LoadedMountPolicy>;
  /**
   * Ends the work, removes every sandbox and lets go of the engines, within the time (default: 9 s) whatever they do.
   * Resolves to the ids of what may be left, which is in the log; calling it again waits for the same end.
   */
  close(withinMs?: number): Promise<readonly string[]>;
}
