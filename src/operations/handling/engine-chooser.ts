import type { ChosenEngine } from "../../engines/choice/discover.ts";
import type { Isolation } from "../../policy/isolation.ts";

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

/** Which engine a request gets, and how strongly that must seal. */
export interface EngineChooser {
  /**
   * The isolation that a request demands, its own or the deployment's. Sessions over stdio whose deployment says nothing
   * take what the host reaches (SPEC RT5).
   * @throws POLICY_DENIED for less than the deployment demands, where that is not the request's to accept
   */
  minIsolation(kind: IsolationKind, requested?: Isolation): Isolation;
  /** The engine that a request names, or the deployment's, known to answer. */
  chooseEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /** The same for `run_code`, whose engine is the embedded one unless the deployment says containers (SPEC RT4). */
  chooseSessionEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /**
   * Makes the state folder, without which no engine is chosen.
   * @throws PERMISSION_DENIED
   */
  openState(): Promise<void>;
  /**
   * Asks the engine that must be there from the start: in container mode, and where one was named (SPEC RT1).
   * @throws ENGINE_UNAVAILABLE with its start instructions
   */
  assertEngineAnswers(signal?: AbortSignal): Promise<void>;
}
