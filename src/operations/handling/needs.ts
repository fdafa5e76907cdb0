import type { Config } from "../../config/config.ts";
import type { Host } from "../../config/host/host.ts";
import type { LoadedMountPolicy } from "../../config/load-mount-policy.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { AlertBook } from "../../telemetry/alert-book.ts";
import type { ProvideImage } from "../../workloads/program/ensure-image.ts";
import type { ChosenEngine } from "../../engines/discover.ts";
import type { Isolation } from "../../policy/isolation.ts";

/** What handlers need that start sandboxes: how requests are checked, and where engines and images come from. */
export interface StartNeeds extends Pick<EngineChooser, "minIsolation" | "chooseEngine"> {
  readonly config: Config;
  readonly host: Host;
  /** Refuses a network policy that the deployment, or the caller's grant, does not allow. @throws POLICY_DENIED */
  assertNetworkAllowed(policy: NetworkPolicy, field?: string): void;
  /**
   * An image that a request names, as given, unless it is no reference or the caller's grant does not allow it.
   * @throws INVALID_REQUEST, POLICY_DENIED naming the field
   */
  checkImage(reference: string, field?: string): string;
  readonly provideImage: ProvideImage;
  readonly alertBook: AlertBook;
}

/** What handlers need that open folders and files of this machine. */
export interface MountNeeds {
  readonly host: Host;
  /** What sandboxes may currently get of this machine's disk. @throws INVALID_REQUEST for a bad mount allowlist */
  loadMountPolicy(): Promise<LoadedMountPolicy>;
}

/** What a workload needs of the platform, without what depends on its engine and its call. */
export type RunNeeds<Dependencies> = Omit<Dependencies, "engine" | "provideImage" | "maxOutputBytes">;

/** `session` for `run_code` and what belongs to its session; `other` for everything else. */
export type IsolationKind = "session" | "other";

/** What a request needs of its engine. */
export interface EngineNeeds {
  /** Default: what the deployment demands. */
  readonly minIsolation?: Isolation | undefined;
  /**
   * Whether only containers from images are acceptable, so that the embedded engine is never a substitute. Default
   * false.
   */
  readonly containers?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which engine a request gets, and how strongly that must isolate. */
export interface EngineChooser {
  /**
   * The isolation that a request demands: its own, or the deployment's. Sessions over stdio take the strongest that the
   * host supports, unless the deployment sets one (SPEC RT5).
   * @throws POLICY_DENIED for less than the deployment demands, unless the request may accept that
   */
  minIsolation(kind: IsolationKind, requested?: Isolation): Isolation;
  /** The engine that a request names, or the deployment's; it is known to answer. */
  chooseEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /** The same for `run_code`, whose engine is the embedded one unless the deployment has containers for it (SPEC RT4). */
  chooseSessionEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /**
   * Creates the state folder, without which no engine is chosen.
   * @throws PERMISSION_DENIED
   */
  openState(): Promise<void>;
  /**
   * Checks the engine that must be available from the start: in container mode, or if one was named (SPEC RT1). Settles
   * where sessions run, if that depends on which engines answer.
   * @throws ENGINE_UNAVAILABLE with its start instructions
   */
  assertEngineAnswers(signal?: AbortSignal): Promise<SettledSessions | null>;
}

/** Where sessions run that name no engine, as found at the start; it stays so (SPEC RT4). */
export interface SettledSessions {
  /** The engine of their containers; null: they run in the embedded sandbox, because no engine has containers. */
  readonly engine: string | null;
}
