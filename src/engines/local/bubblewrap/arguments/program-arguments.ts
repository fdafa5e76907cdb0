import type { HostTools } from "../namespaces/host-tools.ts";
import { programShell } from "./program-shell.ts";
import { baseFolders, firstShell } from "./sandbox-view.ts";

/** Limits that the kernel enforces for each process, for hosts without cgroups. */
export interface ProcessLimits {
  /** Private writable memory of one process. */
  readonly dataBytes: number | null;
  /** Processes and threads of one program. */
  readonly processes: number | null;
}

export interface ProgramToStart {
  readonly command: readonly string[];
  /** How many variables are passed to it (`carriedVariables`). */
  readonly variables: number;
  /** Absolute path inside. */
  readonly workingDirectory: string;
  readonly limits: ProcessLimits;
}

/**
 * The server's answer to the first process's message: the server is alive, and from now on its end ends the sandbox.
 */
export const goLine = "\n";

/**
 * What the sandbox's first process does: $1 the folder, then what to run. Bubblewrap ties this process to its parent's
 * end, but only if the parent is still alive by then. So it asks the server first, and starts nothing if the server has
 * gone. It waits in a shell of its own whose stderr goes nowhere, because shells report children that a signal ended.
 */
const firstProcess = `
{ echo ready >&6 && read -r _ <&6; } || exit 125
exec 2>/dev/null 3<&- 4<&- 5<&- 6<&- 7<&- 9<&-
cd -- "$1" || { echo "$1: the working folder is missing or cannot be entered" >&8; exit 126; }
shift
(exec "$@" 2>&8 8>&-)
exit $?
`;

/**
 * The program's process number in its namespace: the first process starts nothing before it, and exec keeps the number.
 */
export const programNumber = 2;

/** Takes from the program the one capability that its parent keeps. */
const withoutCapabilities = ["--ambient-caps=-all", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"];

/** Argument vector of the sandbox's first process. */
export function programArguments(
  tools: Pick<HostTools, "prlimit" | "setpriv">,
  { command, variables, workingDirectory, limits }: ProgramToStart,
): readonly string[] {
  const { dataBytes, processes } = limits;
  const bounds = [
    ...(dataBytes === null ? [] : [`--data=${dataBytes}:${dataBytes}`]),
    // The first process counts, too.
    ...(processes === null ? [] : [`--nproc=${processes + 1}:${processes + 1}`]),
  ];
  return [
    ...[`${baseFolders.opt}/${firstShell}`, "-c", firstProcess, "sh", workingDirectory],
    ...(bounds.length === 0 ? [] : [tools.prlimit, ...bounds]),
    ...[tools.setpriv, ...withoutCapabilities, ...programShell(variables), ...command],
  ];
}
