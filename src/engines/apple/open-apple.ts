import path from "node:path";
import type { EngineSurroundings } from "../engine-surroundings.ts";
import type { Engine } from "../engine.ts";
import { AppleEngine } from "./apple-engine.ts";
import { healingEngine } from "./self-heal/healing-engine.ts";

const noLogger = { info: () => undefined, warn: () => undefined };

/** The engine over the `container` command of this machine. */
export function openAppleEngine(surroundings: EngineSurroundings): Engine {
  const { environment, architecture, engineRestart, stateDirectory, now, logger = noLogger } = surroundings;
  return healingEngine(new AppleEngine({ environment, architecture }), {
    rule: engineRestart,
    folder: path.join(stateDirectory, "apple"),
    ...{ now, logger },
  });
}
