import { posix } from "node:path";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { projectFolder } from "../environment-spec.ts";

/** What cannot be written to in an environment. */
export interface WriteRules {
  /** Whether the project is mounted read-only. */
  readonly isProjectReadOnly: boolean;
  /** Whether the image's folders are. */
  readonly isRootReadOnly: boolean;
  /** Paths, from the project's root, that mounts protect from changes. */
  readonly locked: readonly string[];
}

/** The error of a refused write with this environment's reason for it; any other error unchanged. */
export function explainRefusedWrite(error: unknown, rules: WriteRules): unknown {
  if (!(error instanceof GloveboxError) || error.errorType !== "PERMISSION_DENIED") return error;
  const { context, message, cause } = error;
  const { path: named } = context;
  const path = typeof named === "string" ? posix.normalize(named) : "";
  return new GloveboxError("PERMISSION_DENIED", message, { suggestion: suggestionFor(path, rules), context, cause });
}

function suggestionFor(path: string, { isProjectReadOnly, isRootReadOnly, locked }: WriteRules): string {
  if (path !== projectFolder && !path.startsWith(`${projectFolder}/`)) {
    return isRootReadOnly
      ? `Write below ${projectFolder} or /tmp: the rest of the container is read-only here (read_only_root).`
      : `Write below ${projectFolder} or /tmp: nothing is written with more rights than commands have.`;
  }
  if (isProjectReadOnly) {
    return "The project cannot be changed here (read_only): write below /tmp, or create an environment without read_only.";
  }
  const lock = locked.find((name) => `${path}/`.startsWith(`${projectFolder}/${name}/`));
  return lock === undefined
    ? "The owner of the project may not write there, so nothing in the environment may: choose another path, or change its mode on the host."
    : `tooling_files is locked here, and ${lock} one of them: change it on the host, or create an environment with tooling_files "named".`;
}
