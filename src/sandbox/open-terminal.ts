import type { CallOptions, TerminalSize } from "../engines/engine.ts";
import type { AddedProgram, AddedProgramSpec, ReachedSandbox } from "./added-program.ts";
import { sensibleSize } from "./terminal-size.ts";

export interface TerminalSpec extends Pick<AddedProgramSpec, "environment" | "workingDirectory" | "user"> {
  /** Null: an interactive shell, bash where there is one. */
  readonly command: readonly string[] | null;
  readonly size: TerminalSize;
}

const shell = ["sh", "-c", "command -v bash >/dev/null && exec bash; exec sh"];

/** Runs a program in a terminal inside a sandbox. @throws what `ReachedSandbox.exec` throws */
export function openTerminal(
  sandbox: ReachedSandbox,
  { command, size, environment, workingDirectory, user }: TerminalSpec,
  options: CallOptions = {},
): Promise<AddedProgram> {
  return sandbox.exec(
    {
      ...{ environment, workingDirectory, user, asProgram: true },
      command: command ?? shell,
      terminal: sensibleSize(size),
    },
    options,
  );
}
