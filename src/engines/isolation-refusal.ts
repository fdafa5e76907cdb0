import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { Capabilities } from "./capabilities.ts";
import type { EngineName } from "./engine.ts";

/** How people accept level `preload` by name, for one command and for all (SPEC RT5). */
const preloadByName = "--min-isolation preload (for every run: GLOVEBOX_MIN_ISOLATION=preload)";

/** The last resort. */
export const withoutWalls: string = `To run without a security boundary anyway, accept it by name: ${preloadByName}`;

/**
 * The refusal of an engine that isolates less than is demanded: what would isolate more and, for level `preload`, how
 * it is accepted.
 */
export function isolationRefusal(
  { isolation, isolationAdvice }: Capabilities,
  { engine, minIsolation }: { readonly engine: EngineName; readonly minIsolation: Isolation },
): GloveboxError {
  const isNoWall = isolation === "preload";
  const what = `Engine ${engine} reaches isolation "${isolation}" here; "${minIsolation}" is required.`;
  return new GloveboxError("UNSUPPORTED", isNoWall ? `${what} Level preload does not stop hostile code.` : what, {
    suggestion: [
      ...(isolationAdvice === undefined ? [] : [isolationAdvice]),
      `Use an engine that reaches "${minIsolation}" (\`glovebox doctor\` lists them).`,
      ...(isNoWall ? [withoutWalls] : []),
    ].join(" "),
    context: { engine, isolation, min_isolation: minIsolation },
  });
}
