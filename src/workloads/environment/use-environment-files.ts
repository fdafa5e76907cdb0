import { GloveboxError, isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import type { FileUse, FileWork } from "../place/place-files.ts";
import { replacedWarning } from "./command/command-warnings.ts";
import type { EnvironmentContainer } from "./container/environment-container.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import { explainRefusedWrite, type WriteRules } from "./command/explain-files.ts";
import { lockedPaths } from "./project/explain-locks.ts";
import type { ToolingTraces } from "./project/tooling-traces.ts";
import { nothingChanged, toolingWarnings, type ToolingReport } from "../run/explain-tooling.ts";

/** The part of an environment that working with its files needs. */
export interface FileUseParts {
  readonly spec: Pick<EnvironmentSpec, "project" | "readOnlyRoot">;
  readonly tooling: ToolingTraces;
  /** Whether anything else is running there. */
  readonly isWorking: () => boolean;
  /** Restarts the work in a new container if the current one turns out to be gone. */
  inContainer<T>(work: (container: EnvironmentContainer, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Whether the container, which is now reported to the caller, differs from the one it knows. */
  tellOf(container: EnvironmentContainer): boolean;
  /** Replaces a container that must not be used again. */
  giveUp(container: EnvironmentContainer, reason: unknown): Promise<void>;
}

/** Errors that our programs reported from inside, which shows that the container is alive. */
const toldInside: ReadonlySet<ErrorType> = new Set(["NOT_FOUND", "PERMISSION_DENIED", "INVALID_REQUEST"]);

/** Whether an error of file work came from a live container. */
export function isToldInside(error: unknown): boolean {
  return error instanceof GloveboxError && toldInside.has(error.errorType);
}

/**
 * Works with the files of an environment. If it `writes`, changes to files run by the project owner's tools are
 * reported like a command's changes, by an alert if the work fails. @throws what the work throws
 */
export async function useEnvironmentFiles<T>(
  parts: FileUseParts,
  work: FileWork<T>,
  writes: boolean,
): Promise<FileUse<T>> {
  const { spec, tooling } = parts;
  const trace = writes ? await tooling.begin(parts.isWorking()) : null;
  const used: { container: EnvironmentContainer | null } = { container: null };
  const changes = (): Promise<ToolingReport> | ToolingReport =>
    trace === null || used.container === null ? nothingChanged : tooling.endChange(trace, used.container.sandbox.id);
  try {
    const { result, container } = await parts.inContainer(async (present, signal) => {
      used.container = present;
      return { result: await work(present.sandbox.files, { signal }), container: present };
    });
    const report = await changes();
    const restarted = parts.tellOf(container);
    const warnings = [...(restarted ? [replacedWarning] : []), ...toolingWarnings(report)];
    return { result, restarted, warnings, toolingFiles: report.changed };
  } catch (error) {
    const { container } = used;
    await changes();
    if (isSandboxLoss(error) && container !== null) await parts.giveUp(container, error);
    throw writes ? explainRefusedWrite(error, rulesOf(spec, container)) : error;
  }
}

function rulesOf(
  { project, readOnlyRoot }: FileUseParts["spec"],
  container: Pick<EnvironmentContainer, "locks"> | null,
): WriteRules {
  return {
    isProjectReadOnly: project?.readOnly ?? false,
    isRootReadOnly: readOnlyRoot,
    // The others only keep a folder in its place.
    locked: lockedPaths(container?.locks.filter(({ readOnly }) => readOnly) ?? []),
  };
}
