import type { EngineSurroundings } from "../engine-surroundings.ts";
import type { Engine } from "../engine.ts";
import { KubernetesEngine } from "./kubernetes-engine.ts";
import { readSettings } from "./settings.ts";

/** The engine over the cluster that the deployment names. */
export function openKubernetesEngine(surroundings: EngineSurroundings): Engine {
  const { environment, architecture, owner, prebuiltOnly, now, monotonicMs, randomInteger } = surroundings;
  return new KubernetesEngine({
    settings: readSettings(environment, architecture),
    ...{ environment, owner, prebuiltOnly, now, monotonicMs, randomInteger },
  });
}
