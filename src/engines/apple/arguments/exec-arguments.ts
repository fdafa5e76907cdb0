import type { InsideProgram } from "../../inside/running-container.ts";
import { environmentOptions, option } from "./option.ts";

/** Variables that the engine may set by itself where the image does not. */
const ownNames: ReadonlySet<string> = new Set(["PATH", "HOME", "HOSTNAME", "TERM"]);

/**
 * Argument vector that runs a program in a running container with its input connected.
 *
 * Variables are added behind those of the first process, whose values a program would see, so those that have the same
 * name are set by `env` inside.
 */
export function execArguments(
  id: string,
  program: Omit<InsideProgram, "ending">,
  /** Names of the first process's variables. */
  taken: readonly string[],
): readonly string[] {
  const { command, environment, workingDirectory = "/", user } = program;
  const isTaken = (name: string): boolean => taken.includes(name) || ownNames.has(name);
  const added = Object.entries(environment).filter(([name]) => !isTaken(name));
  const replaced = Object.entries(environment).filter(([name]) => isTaken(name));
  return [
    "exec",
    "--interactive",
    option("user", user),
    option("workdir", workingDirectory),
    ...environmentOptions(Object.fromEntries(added)),
    "--",
    id,
    ...withVariables(replaced, command),
  ];
}

function withVariables(
  variables: readonly (readonly [string, string])[],
  command: readonly string[],
): readonly string[] {
  if (variables.length === 0) return command;
  // A program's name with an equals sign would be a variable's.
  const plain = command[0]?.includes("=") === true ? ["sh", "-c", 'exec "$@"', "sh", ...command] : command;
  return ["env", ...variables.map(([name, value]) => `${name}=${value}`), ...plain];
}
