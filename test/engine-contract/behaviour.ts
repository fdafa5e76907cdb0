import type { Requirement } from "../helpers/require.ts";
import type { Scene } from "./scene.ts";
import type { CheckedCapabilities } from "./subject.ts";

/** What a test needs beyond the engine itself. */
export interface BehaviourNeeds {
  /** A capability without which there is nothing to test; the test is then skipped, visibly. */
  readonly capability?: keyof CheckedCapabilities;
  /** What the subject must have: without it, there is nothing to test on that engine. */
  readonly subject?: "makeAt";
  readonly requirement?: Requirement;
  /** Default: that of the test project. */
  readonly timeoutMs?: number;
}

/** Registers one behaviour that every engine has, under a stable id `topic.words`. */
export type DefineBehaviour = (
  id: string,
  title: string,
  test: (scene: Scene) => Promise<void>,
  needs?: BehaviourNeeds,
) => void;

/** A group of behaviours. */
export type Topic = (behaviour: DefineBehaviour) => void;
