import { withinMs } from "../../base/abort.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { RunningContainer } from "./running-container.ts";

export interface Helper {
  readonly command: readonly string[];
  readonly user: string;
  /** How long it may run: programs of its user can stop it, even before the engine says that it has begun. */
  readonly maxMs: number;
  readonly late: () => GloveboxError;
}

/** Runs a small program of ours that is told all in its arguments and says nothing; resolves to its exit code. */
export async function runHelper(container: RunningContainer, helper: Helper): Promise<number> {
  const { command, user, maxMs, late } = helper;
  const { exitCode } = await withinMs(maxMs, late, async (signal) => {
    // Neither the variables nor the folder of those whom it is about: they are their own to choose.
    const program = await container.start({ command, user, environment: {}, workingDirectory: "/" }, { signal });
    program.stdin.end();
    // What a program writes in its name must not hold up the news of its end.
    void program.output[Symbol.asyncIterator]().return?.();
    return program.exit;
  });
  return exitCode;
}
