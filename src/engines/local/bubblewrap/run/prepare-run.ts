import { mebibyte } from "../../../../base/bytes.ts";
import type { ContainerSpec } from "../../../container-spec.ts";
import type { ExecSpec } from "../../../engine.ts";
import { bwrapArguments, encodeOptions } from "../arguments/bwrap-arguments.ts";
import { hostPath } from "../namespaces/host-tools.ts";
import { launchArguments } from "../arguments/launch-arguments.ts";
import type { ContainerGroup } from "../../cgroups/container-group.ts";
import type { BubblewrapHost } from "../bubblewrap-host.ts";
import { parseProcessUser } from "../../local-spec.ts";
import { carriedVariables } from "../arguments/program-shell.ts";
import { programArguments } from "../arguments/program-arguments.ts";
import type { ProgramEnds } from "../pipes/program-pipes.ts";
import type { SandboxLaunchOptions } from "./sandbox-launch.ts";
import { interpreterFolder, scratchRoot } from "../arguments/sandbox-view.ts";

/** What every program has unless its container or itself is given another. */
const defaultEnvironment = {
  PATH: `${interpreterFolder}:/usr/bin:/bin:/usr/sbin:/sbin`,
  HOME: "/tmp",
};

const defaultOpenFiles = 16_384;

/**
 * What one process may use beyond the container's memory where a watch limits that: more than can be used between two
 * looks, so that the watch decides; and a bound if the watch does not look.
 */
const unwatchedBytes = 512 * mebibyte;

/** What a container is made of. */
export interface ContainerParts {
  readonly spec: ContainerSpec;
  readonly host: BubblewrapHost;
  readonly group: ContainerGroup;
  /** Of the container's mount namespace. */
  readonly mountDescriptor: number;
  /** Of the container's network namespace. */
  readonly networkDescriptor: number;
  /** The host's user that its programs run as; null: our own. */
  readonly hostUid: number | null;
}

/** What a program finds when it starts in a container. */
export interface ProgramPlace {
  readonly ends: ProgramEnds | null;
  /** Whether no other program has run in the container yet. */
  readonly isFirst: boolean;
}

/** Everything that launching one program of a container needs. */
export function prepareRun(
  { spec, host, group, mountDescriptor, networkDescriptor, hostUid }: ContainerParts,
  program: ExecSpec,
  { ends, isFirst }: ProgramPlace,
): SandboxLaunchOptions {
  const { tools, base, capabilities, inherited, nullDescriptor } = host;
  const { limits } = spec;
  const environment = {
    ...defaultEnvironment,
    ...host.interpreters.environment,
    ...(program.inheritsEnvironment === false ? {} : spec.environment),
    ...program.environment,
  };
  const carried = carriedVariables(environment);
  const view = {
    ...parseProcessUser(spec.processUser),
    root: host.root,
    base: base.folder,
    scratchPaths: spec.scratch.map(({ path }) => path),
    mounts: spec.mounts ?? [],
    environment: { PATH: hostPath, ...carried },
    canDisableUserNamespaces: host.canDisableUserNamespaces,
  };
  const launch = {
    tools,
    inUserNamespace: base.userDescriptor !== null,
    usedScratch: isFirst ? null : scratchRoot(base.folder),
    groupFiles: group.joinFiles,
    openFiles: Math.min(limits.openFiles ?? defaultOpenFiles, host.openFilesCeiling),
    hostUid,
    inherited,
  };
  const first = programArguments(tools, {
    command: program.command,
    variables: Object.keys(carried).length,
    workingDirectory: program.workingDirectory ?? spec.workingDirectory ?? "/",
    limits: {
      dataBytes: capabilities.memoryLimit === "yes" ? null : limits.memoryBytes + unwatchedBytes,
      processes: typeof capabilities.pidsLimit === "object" ? limits.pids : null,
    },
  });
  return {
    tools,
    base,
    mountDescriptor,
    networkDescriptor,
    nullDescriptor,
    inherited,
    launchArguments: launchArguments(launch, first),
    options: encodeOptions(bwrapArguments(view)),
    ends,
  };
}
