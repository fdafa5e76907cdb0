import { GloveboxError } from "../../errors/glovebox-error.ts";
import { openNamespacesLevel } from "./bubblewrap/namespaces-level.ts";
import type { Level } from "./level.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";
import type { WhyPreload } from "./preload/preload-capabilities.ts";
import { openPreloadLevel } from "./preload/preload-level.ts";

/** @throws ENGINE_UNAVAILABLE with what is missing */
export type OpenLevel = (options: LocalEngineOptions) => Promise<Level>;

/** How each level is opened; `preload` is told why no better level is available. */
export interface LevelOpeners {
  readonly namespaces: (options: LocalEngineOptions) => Promise<Level>;
  readonly preload: (options: LocalEngineOptions, why: WhyPreload) => Promise<Level>;
}

const openers: LevelOpeners = { namespaces: openNamespacesLevel, preload: openPreloadLevel };

/**
 * Opens the level that is asked for, or the best that this host supports. When none is available, the error is that of
 * the better one.
 */
export async function openLevel(
  options: LocalEngineOptions,
  { namespaces, preload }: LevelOpeners = openers,
): Promise<Level> {
  const { level = "auto" } = options;
  if (level === "namespaces") return namespaces(options);
  if (level === "preload") return preload(options, { reason: "This level was asked for." });
  try {
    return await namespaces(options);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    try {
      return await preload(options, { reason: error.message, fix: error.suggestion });
    } catch (second) {
      throw isUnavailable(second) ? error : second;
    }
  }
}

function isUnavailable(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE";
}
