import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Engine, EngineProbe } from "./engine.ts";

/** The engine's own answer; one that fails, or does not answer in time, cannot be used. @throws CANCELLED */
export async function probeEngine(engine: Engine, signal?: AbortSignal): Promise<EngineProbe> {
  try {
    return await engine.probe({ signal });
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return { available: false, reason: error.message, howToStart: error.suggestion };
  }
}
