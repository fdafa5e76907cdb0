import { supervisorCapabilities } from "./bwrap-arguments.ts";
import { descriptors } from "./descriptors.ts";
import type { UserLimit } from "../../user-limits.ts";
import type { HostTools } from "./host-tools.ts";
import { supervisorPath } from "./sandbox-view.ts";

/** How one sandbox is entered from the host. */
export interface Launch {
  readonly tools: Pick<HostTools, "bwrap" | "nsenter" | "prlimit" | "setpriv">;
  /**
   * Whose user namespace is entered: that of the engine, because we are not root; or the container's own, whose root the
   * supervisor is.
   */
  readonly userNamespace: "engine" | "container";
  /** Files that a process writes 0 to in order to join the container's groups. */
  readonly groupFiles: readonly string[];
  readonly openFiles: number;
  readonly limits: ProcessLimits;
}

/** Limits that the kernel enforces for each process, for hosts without control groups. */
export interface ProcessLimits {
  /** Private writable memory of one process. */
  readonly dataBytes: number | null;
  /** Processes and threads of the sandbox's user, ours included. */
  readonly processes: number | null;
  /** Of what the kernel counts for each user, in the sandbox's user namespace and again outside. */
  readonly ofUser: readonly UserLimit[];
}

/** $1 open files, then files of groups, then `--` and what to run, which gets the stream as its input and output. */
const enterLimits = `
umask 022
ulimit -c 0 && ulimit -n "$1" || exit 1
shift
while [ "$1" != -- ]; do
  echo 0 >"$1" || exit 1
  shift
done
shift
exec "$@" <&${descriptors.stream} >&${descriptors.stream} ${descriptors.stream}>&-
`;

/** Arguments of `nsenter` into the engine's or a container's mounts, whose descriptors were handed down. */
export function enterArguments(inUserNamespace: boolean): readonly string[] {
  return [
    `--mount=/proc/self/fd/${descriptors.mountNamespace}`,
    ...(inUserNamespace ? [`--user=/proc/self/fd/${descriptors.userNamespace}`, "--preserve-credentials"] : []),
    "--",
  ];
}

/**
 * Arguments of `nsenter` that run the supervisor as the first process of a new sandbox. It closes all descriptors but its
 * stream and diagnostics.
 */
export function launchArguments(launch: Launch): readonly string[] {
  const { tools, userNamespace, limits } = launch;
  // After the groups, which only the host's root may join.
  const become = [tools.nsenter, `--user=/proc/self/fd/${descriptors.userNamespace}`, "--setuid", "0", "--setgid", "0"];
  return [
    ...enterArguments(userNamespace === "engine"),
    ...["/bin/sh", "-c", enterLimits, "sh", String(launch.openFiles), ...launch.groupFiles, "--"],
    ...(userNamespace === "container" ? [...become, "--"] : []),
    ...[tools.bwrap, "--args", String(descriptors.options)],
    ...[
      "--",
      ...bounded(tools.prlimit, limits),
      tools.setpriv,
      ...keeping(userNamespace === "container"),
      supervisorPath,
    ],
  ];
}

/** Drops every capability but the supervisor's: what is not in its bounding set no program can ever gain. */
function keeping(isApart: boolean): readonly string[] {
  const kept = ["-all", ...(isApart ? supervisorCapabilities.map((name) => `+${name}`) : [])].join();
  return [`--ambient-caps=${kept}`, `--inh-caps=${kept}`, `--bounding-set=${kept}`, "--no-new-privs", "--"];
}

/** Inside, where the kernel counts the sandbox's own processes only. */
function bounded(prlimit: string, { dataBytes, processes, ofUser }: ProcessLimits): readonly string[] {
  const bounds = [
    ...(dataBytes === null ? [] : [`--data=${dataBytes}:${dataBytes}`]),
    ...(processes === null ? [] : [`--nproc=${processes}:${processes}`]),
    ...ofUser.map(({ name, value }) => `--${name}=${value}:${value}`),
  ];
  return bounds.length === 0 ? [] : [prlimit, ...bounds];
}
