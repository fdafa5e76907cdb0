import type { BehaviourNeeds } from "./behaviour.ts";
import { topics } from "./topics.ts";

/** Every behaviour of the suite by id, with what its test needs; nothing is run. */
export function collectBehaviours(): ReadonlyMap<string, BehaviourNeeds> {
  const found = new Map<string, BehaviourNeeds>();
  for (const topic of Object.values(topics)) topic((id, _title, _test, needs = {}) => found.set(id, needs));
  return found;
}
