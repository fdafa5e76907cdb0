import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { lostError } from "../../inside/lost-error.ts";
import { engineName, engineTitle } from "../command/command-errors.ts";
import { failureKind, type FailureKind } from "../command/command-failure.ts";
import type { CommandEnd, ProgramEnd } from "./follow-command.ts";

/** Exit code of a process that SIGKILL ended, which is how every process ends that dies with its container. */
export const killedExitCode = 137;

/** Codes that the command also ends with when the container went away under it, or when it does not know better. */
const doubtfulCodes: ReadonlySet<number | null> = new Set([null, killedExitCode, 255]);
const doubtfulKinds: ReadonlySet<FailureKind> = new Set([
  ...["no-container", "not-running", "down", "interrupted", "late", "lost-end"],
] as const);

export interface EndOf {
  readonly command: readonly string[];
  readonly isEndedByUs: () => boolean;
  /** Whether the program was to be killed, alone. Default: it was not. */
  readonly isKilled?: (() => boolean) | undefined;
  /** Whether the container runs, by more than the words of what ran in it. */
  readonly isAlive: () => Promise<boolean>;
}

/**
 * How a program ended, by the end of the command that ran it. The command's words stand in the program's own standard
 * error, where anybody could have written them: they decide over that program's exit code, and of the container only
 * what the container itself confirms.
 * @throws SANDBOX_LOST when the container is gone, or nobody knows how the program ended
 */
export async function judgeEnd({ exitCode, words }: CommandEnd, of: EndOf): Promise<ProgramEnd> {
  const kind = exitCode === 1 && words !== null ? failureKind(words) : null;
  const program = of.command[0] ?? "";
  // Then the kill prevented its start.
  if (kind !== null && of.isKilled?.() === true) return { exitCode: killedExitCode };
  if (kind === "no-program") return { exitCode: 127, failure: `${program}: not found` };
  if (kind === "not-executable") return { exitCode: 126, failure: `${program}: permission denied` };
  if (kind === "unknown" && /^failed to (?:start|create) process/.test(words ?? "")) {
    return { exitCode: 126, failure: `${program}: cannot be started` };
  }
  const isDoubtful = doubtfulCodes.has(exitCode) || (kind !== null && doubtfulKinds.has(kind));
  if (!isDoubtful && exitCode !== null) return { exitCode };
  if (of.isEndedByUs()) return { exitCode: killedExitCode };
  if (!(await of.isAlive())) throw lostError(engineTitle, words === null ? undefined : new Error(words));
  if (exitCode === null || kind === "lost-end") throw endUnknown(words);
  return { exitCode };
}

function endUnknown(words: string | null): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${engineTitle} lost the end of a program, and its exit code with it.`, {
    suggestion: "Retry; if it happens again, read the program's output as it comes.",
    context: { engine: engineName },
    cause: new Error(words ?? "the command was killed"),
  });
}
