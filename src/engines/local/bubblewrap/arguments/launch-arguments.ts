import { descriptors } from "./descriptors.ts";
import type { HostTools } from "../namespaces/host-tools.ts";

/** How one sandbox is entered from the host. */
export interface Launch {
  readonly tools: Pick<HostTools, "bwrap" | "nsenter" | "setpriv">;
  /** Whether the engine's namespace has a user namespace of its own, because we are not root. */
  readonly inUserNamespace: boolean;
  /** Files that a process writes 0 to in order to join the container's groups. */
  readonly groupFiles: readonly string[];
  readonly openFiles: number;
  /**
   * Folder of the container's scratch places, which an earlier program may have closed to the next one; null: there are
   * none.
   */
  readonly usedScratch: string | null;
  /** The host's user that the sandbox runs as; null: our own. */
  readonly hostUid: number | null;
  /** Descriptors that this process was born with and that must not reach the program; they hold /dev/null by now. */
  readonly inherited: readonly number[];
}

/** $1 open files, $2 folder of scratch places to open again, or nothing, then files of groups, then `--` and what to run. */
const enterLimits = `
umask 022
ulimit -c 0 && ulimit -n "$1" || exit 1
[ -z "$2" ] || chmod 1777 "$2"/* || exit 1
shift 2
echo 1000 >/proc/self/oom_score_adj
while [ "$1" != -- ]; do
  echo 0 >"$1" || exit 1
  shift
done
shift
exec "$@"
`;

/** Arguments of `nsenter` into the engine's namespaces, whose descriptors were handed down, and a container's network. */
export function enterArguments(inUserNamespace: boolean, withNetwork = false): readonly string[] {
  return [
    `--mount=/proc/self/fd/${descriptors.mountNamespace}`,
    ...(withNetwork ? [`--net=/proc/self/fd/${descriptors.networkNamespace}`] : []),
    ...(inUserNamespace ? [`--user=/proc/self/fd/${descriptors.userNamespace}`, "--preserve-credentials"] : []),
    "--",
  ];
}

/**
 * Arguments of `nsenter` that run `program` as the first process of a new sandbox. Bubblewrap closes each descriptor
 * that it has read options from. Shells cannot name all inherited descriptors, so these are passed to it as additional,
 * empty lists of options.
 */
export function launchArguments(launch: Launch, program: readonly string[]): readonly string[] {
  const { tools, hostUid } = launch;
  const become = [tools.setpriv, "--reuid", String(hostUid), "--regid", String(hostUid), "--clear-groups", "--"];
  return [
    ...enterArguments(launch.inUserNamespace, true),
    ...["/bin/sh", "-c", enterLimits, "sh", String(launch.openFiles), launch.usedScratch ?? ""],
    ...[...launch.groupFiles, "--"],
    ...(hostUid === null ? [] : become),
    ...[tools.bwrap, "--args", String(descriptors.options)],
    ...launch.inherited.flatMap((descriptor) => ["--args", String(descriptor)]),
    ...["--", ...program],
  ];
}
