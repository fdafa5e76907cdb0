import type { Command } from "commander";

/** A project's folder and what runs in it, as `[path] -- [command...]` gives them. */
export interface PathAndCommand {
  readonly path: string | undefined;
  readonly command: readonly string[];
}

/**
 * Operands of a command that takes an optional folder before `--` and a command after it. The parser counts operands
 * only, so that the first word after `--` becomes the folder if none came before.
 */
export function pathAndCommand(program: Command, path: string | undefined, command: readonly string[]): PathAndCommand {
  if (path === undefined || !beginsBehindDashes(program, 1 + command.length)) return { path, command };
  return { path: undefined, command: [path, ...command] };
}

/** Whether all operands come after `--`. */
function beginsBehindDashes(program: Command, operands: number): boolean {
  // What was typed; commander keeps it, but its types leave it out.
  const { rawArgs = [] } = program as unknown as { readonly rawArgs?: readonly string[] };
  const dashes = rawArgs.indexOf("--");
  return dashes !== -1 && rawArgs.length - dashes - 1 === operands;
}
