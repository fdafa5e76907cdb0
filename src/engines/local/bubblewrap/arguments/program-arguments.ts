import type { HostTools } from "../namespaces/host-tools.ts";
import { programShell } from "./program-shell.ts";
import { baseFolders, firstShell } from "./sandbox-view.ts";

/** Limits that the kernel keeps for each process by itself, where there are no cgroups. */
export interface ProcessLimits {
  /** Private writable memory of one process. */
  readonly dataBytes: number | null;
  /** Processes and threads of one program. */
  readonly processes: number | null;
}

export interface ProgramToStart {
  readonly command: readonly string[];
  /** How many variables are carried to it (`carriedVariables`). */
  readonly variables: number;
  /** Runs beside it, with the channel as its standard input and output. */
  readonly companion?: readonly string[] | undefined;
  /** Variables of the companion, which gets none of the program's; other users of the host may see them. */
  readonly companionEnvironment: Readonly<Record<string, string>>;
  /** Absolute path inside. */
  readonly workingDirectory: string;
  readonly limits: ProcessLimits;
}

/** The server's answer to the word of the first process: it lives, and from now on its end is the sandbox's. */
export const goLine = "\n";

/**
 * What the sandbox's first process does: $1 the folder, $2 how many words the companion has, then the companion, then
 * what to run.
 *
 * Bubblewrap binds this process to its parent's end, but only if the parent still lives by then; so it first asks the
 * server, and starts nothing for one that has gone.
 * It waits in a shell of its own, whose stderr goes nowhere, because shells announce children that a signal ended.
 */
const firstProcess = `
{ echo ready >&6 && read -r _ <&6; } || exit 125
exec 2>/dev/null 3<&- 4<&- 5<&- 6<&- 7<&-
cd -- "$1" || { echo "$1: the working folder is missing or cannot be entered" >&8; exit 126; }
words=$2
shift 2
if [ "$words" -gt 0 ]; then
  (
    turn=$words
    while [ "$turn" -gt 0 ]; do
      set -- "$@" "$1"
      shift
      turn=$((turn - 1))
    done
    shift $(($# - words))
    exec "$@" <&9 >&9 8>&- 9>&-
  ) &
  shift "$words"
fi
(exec "$@" 2>&8 8>&- 9>&-)
exit $?
`;

/**
 * The program's process number in its namespace: the first process starts nothing before it but the companion, and what
 * either of them becomes keeps its number.
 */
export function programNumber({ hasCompanion }: { readonly hasCompanion: boolean }): number {
  return hasCompanion ? 3 : 2;
}

/** Takes from the program the one capability that its parent keeps. */
const withoutCapabilities = ["--ambient-caps=-all", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"];

/** Argument vector of the sandbox's first process. */
export function programArguments(
  tools: Pick<HostTools, "prlimit" | "setpriv">,
  { command, variables, companion = [], companionEnvironment, workingDirectory, limits }: ProgramToStart,
): readonly string[] {
  const { dataBytes, processes } = limits;
  const bounds = [
    ...(dataBytes === null ? [] : [`--data=${dataBytes}:${dataBytes}`]),
    // The first process counts, too.
    ...(processes === null ? [] : [`--nproc=${processes + 1}:${processes + 1}`]),
  ];
  const confined = (words: readonly string[]): readonly string[] => [
    ...(bounds.length === 0 ? [] : [tools.prlimit, ...bounds]),
    ...[tools.setpriv, ...withoutCapabilities, ...words],
  ];
  const only = Object.entries(companionEnvironment).map(([name, value]) => `${name}=${value}`);
  const beside = companion.length === 0 ? [] : confined(["/usr/bin/env", "-i", ...only, ...companion]);
  return [
    ...[`${baseFolders.opt}/${firstShell}`, "-c", firstProcess, "sh", workingDirectory],
    ...[String(beside.length), ...beside],
    ...confined([...programShell(variables), ...command]),
  ];
}
