import type { Requirement } from "../helpers/require.ts";
import type { Scene } from "./scene.ts";
import type { CheckedCapabilities } from "./subject.ts";

/** What a test needs beyond the engine itself. */
export interface BehaviourNeeds {
  /** A capability without which there is nothing to test; the test is then skipped and says so. */
  readonly capability?: keyof CheckedCapabilities;
  /** What the subject must have, because without it there is no such thing on that engine. */
  readonly subject?: "makeAt";
  readonly requirement?: Requirement;
  /** Default: the test project's. */
  readonly timeoutMs?: number;
}

/** Registers one behaviour that every engine has, under an id `topic.words` that stays. */
export type DefineBehaviour = (
  id: string,
  title: string,
  test: (scene: Scene) => Promise<void>,
  needs?: BehaviourNeeds,
) => void;

/** A group of behaviours. */
export type Topic = (behaviour: DefineBehaviour) => void;
