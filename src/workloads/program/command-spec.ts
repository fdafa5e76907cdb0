import type { ProgramSecret } from "../../sandbox/program-secret.ts";

/** A checked command of an environment or a session (SPEC EV2, EV6). */
export interface CommandSpec {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Of the command itself, beside the environment's; default: none. */
  readonly secrets?: readonly ProgramSecret[] | undefined;
  /** Absolute inside. */
  readonly workingDirectory: string;
}

/** One that continues in the background. */
export interface ProcessSpec extends CommandSpec {
  /** TCP ports that it listens on and that can be reached from this machine; each once. */
  readonly ports: readonly number[];
}

/**
 * A command that first takes its secrets from its standard input, and what must be written there before everything
 * else.
 */
interface CommandWithSecrets {
  readonly command: readonly string[];
  readonly preamble: Uint8Array;
}

/** Of a shell: reads a value of as many lines as were told, and no byte too many. */
export const readValue = `
  IFS= read -r _glovebox_value
  while [ "$_glovebox_lines" -gt 1 ]; do
    IFS= read -r _glovebox_line
    _glovebox_value="$_glovebox_value
$_glovebox_line"
    _glovebox_lines=$((_glovebox_lines - 1))
  done`;

/**
 * Reads variables until an empty line, then becomes the command, which has the rest of the input. For each variable: its
 * name and how many lines its value has, then those lines. A shell's `read` takes no byte too many.
 */
const script = `
while IFS=' ' read -r _glovebox_name _glovebox_lines && [ -n "$_glovebox_lines" ]; do${readValue}
  export "$_glovebox_name=$_glovebox_value"
done
unset _glovebox_name _glovebox_lines _glovebox_value _glovebox_line PWD OLDPWD SHLVL
exec "$@"`;

/**
 * Hands secrets to a command over its standard input: an engine keeps the variables that an exec is given, some on disk,
 * and shows them to whoever may ask it. Without secrets the command stays as it is.
 */
export function withSecrets(command: readonly string[], secrets: readonly ProgramSecret[]): CommandWithSecrets {
  if (secrets.length === 0) return { command, preamble: new Uint8Array() };
  const entries = secrets.map(({ variable, value }) => `${variable} ${value.split("\n").length}\n${value}\n`);
  return { command: ["sh", "-c", script, "sh", ...command], preamble: Buffer.from(`${entries.join("")}\n`) };
}
