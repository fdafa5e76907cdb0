import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import { frameLimits } from "../frames/frame-table.ts";

/** What a program is started with; nothing is added to it. */
export interface ProgramStrings {
  /** Program and arguments; a program without a slash is looked up in the PATH of its variables. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path of the folder that it starts in. */
  readonly folder: string;
}

/** Most arguments, and most variables. */
const maxStrings = 65_535;

/** Folder, arguments, variables, each ended by NUL. @throws INVALID_REQUEST for what no program can be given */
export function spawnStrings({ command, environment, folder }: ProgramStrings): Buffer {
  const variables = Object.entries(environment);
  if (command.length === 0 || command.length > maxStrings) {
    throw invalidField("command", `1 to ${maxStrings} strings`, `${command.length} strings`);
  }
  if (variables.length > maxStrings) {
    throw invalidField("environment", `at most ${maxStrings} variables`, `${variables.length} variables`);
  }
  if (!folder.startsWith("/")) throw invalidField("workingDirectory", "an absolute path", folder);
  for (const [name] of variables) {
    if (name === "" || name.includes("=")) throw invalidField("environment", "names without =", name);
  }
  const strings = [folder, ...command, ...variables.map(([name, value]) => `${name}=${value}`)];
  const withNul = strings.find((text) => text.includes("\0"));
  if (withNul !== undefined) throw invalidField("command", "strings without a NUL byte", withNul);
  const bytes = Buffer.from(strings.map((text) => `${text}\0`).join(""));
  if (bytes.length > frameLimits.maxStringsBytes) {
    throw argumentsTooLong(command[0] ?? "");
  }
  return bytes;
}

/** What a kernel says as E2BIG; no frame has more than Linux takes with its usual stack. */
export function argumentsTooLong(program: string): GloveboxError {
  return new GloveboxError(
    "INVALID_REQUEST",
    `command: expected arguments and variables that Linux takes, usually at most 131071 bytes each and 2 MiB together (8 bytes more for each), got more for ${JSON.stringify(program.slice(0, 100))} (E2BIG).`,
    {
      suggestion: "Pass data on standard input or in a file, or run the program several times with fewer arguments.",
      context: { field: "command", reason: "E2BIG" },
    },
  );
}
