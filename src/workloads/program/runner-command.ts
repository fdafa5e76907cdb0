import { runnerOption } from "../../engines/runner-option.ts";
import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import { workFolder } from "./runner-job.ts";

/** What `runnerCommand` starts. */
export interface RunnerStart {
  readonly toolchain: RuntimeName;
  /**
   * Name of the main file in the working folder; Node and Bun distinguish modules from CommonJS by its extension and
   * its code.
   */
  readonly mainFile: string;
  /** Text of the toolchain's runner, from `readRunner`. */
  readonly source: string;
  /** Path of the interpreter inside the sandbox; default: the toolchain's name, found on the PATH. */
  readonly interpreter?: string | undefined;
  /** Default `/work`. */
  readonly folder?: string | undefined;
  /** A folder of the runner's own, made by it and not there before; nothing is left of it, save under Node. Default `/tmp/.glovebox`. */
  readonly runnerFolder?: string | undefined;
  /** Whether a guard runs the runner, because there is no shell to place it; only for Python and Node. Default false. */
  readonly withoutShell?: boolean | undefined;
}

/** Argument vector that starts a runner, which then waits on standard input for the pieces of `encodeJob`. */
export function runnerCommand(asked: RunnerStart): readonly string[] {
  const { interpreter: usual, start } = runtimeOf(asked.toolchain);
  const { source, interpreter = usual, runnerFolder = "/tmp/.glovebox" } = asked;
  const main = `${asked.folder ?? workFolder}/${asked.mainFile}`;
  if (asked.withoutShell) return [interpreter, `${runnerOption}${source}`, main];
  return start({ interpreter, main, source, runnerFolder });
}
