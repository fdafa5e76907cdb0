import { engineCaveats } from "../../policy/engine-caveats.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { canClearSetuidBits } from "../../sandbox/setuid-watch.ts";

/** A folder or file of this machine that the sandbox of one run gets. */
export interface HostMount {
  readonly place: OpenPlace;
  /** Absolute path inside. */
  readonly target: string;
  readonly readOnly: boolean;
  /** The key of the configuration, the option, or the folder of the group, for errors. */
  readonly shownAs: string;
}

/** How errors and warnings call what works in such folders, and the folders. */
export interface FolderWords {
  readonly subject: "agent" | "command" | "program";
  readonly folders: string;
}

/** As an engine is given them; each is compared with the place that is open. */
export function mountSpecs(mounts: readonly HostMount[]): Promise<readonly MountSpec[]> {
  return Promise.all(
    mounts.map(async ({ place, target, readOnly }) => ({
      source: place.realPath,
      target,
      readOnly,
      identity: await place.identify(),
    })),
  );
}

/**
 * Setuid bits in folders of this machine would be the host's: where no filter refuses them a watch takes them.
 * @throws UNSUPPORTED where nothing can
 */
export function setuidWarnings(
  mounts: readonly HostMount[],
  at: { readonly capabilities: Capabilities; readonly engine: EngineName; readonly words: FolderWords },
): readonly string[] {
  const { capabilities, engine, words } = at;
  const { setuidRefusal } = capabilities;
  if (setuidRefusal === "yes" || mounts.every(({ readOnly }) => readOnly)) return [];
  if (setuidRefusal === "no" || mounts.some(({ place }) => !canClearSetuidBits(place))) {
    throw new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot keep setuid files out of ${words.folders} here.`, {
      suggestion: "Ask for them read-only, leave oci_runtime out, or choose another engine.",
      context: { engine, missing: "setuidRefusal" },
    });
  }
  return [engineCaveats.watchedSetuid(engine, words.folders, setuidRefusal.substitute)];
}
