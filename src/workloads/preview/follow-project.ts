import type { Sandbox } from "../../sandbox/sandbox.ts";
import { copyFolder } from "../project/copy-project.ts";
import { LiveCopy } from "../project/live/live-copy.ts";
import type { PreviewParts } from "./preview-parts.ts";
import type { PreviewSpec } from "./preview-spec.ts";

export interface FollowProject {
  readonly sandbox: Pick<Sandbox, "files">;
  readonly onWarning: (message: string) => void;
  /** Ends the copy. */
  readonly over: AbortController;
  /** Aborts only the opening. */
  readonly signal: AbortSignal;
}

/** Copies a preview's project, and follows its changes until the preview is over. @throws what `LiveCopy.open` throws */
export async function followProject(
  spec: PreviewSpec,
  { platform, monotonicMs }: Pick<PreviewParts, "platform" | "monotonicMs">,
  { sandbox, onWarning, over, signal }: FollowProject,
): Promise<LiveCopy> {
  const giveUp = (): void => over.abort();
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  const copy = await LiveCopy.open({
    ...spec,
    ...{ platform, monotonicMs },
    maxBytes: spec.limits.diskBytes,
    files: sandbox.files,
    target: copyFolder,
    onProblem: ({ message }) => onWarning(message),
    signal: over.signal,
  });
  signal.removeEventListener("abort", giveUp);
  for (const warning of copy.warnings) onWarning(warning);
  return copy;
}
