import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import { descriptors } from "../arguments/descriptors.ts";
import { hostPath, type HostTools } from "../namespaces/host-tools.ts";
import { reopenPath } from "../pipes/pipe-pool.ts";
import type { ProgramEnds } from "../pipes/program-pipes.ts";

export interface SandboxLaunchOptions {
  readonly tools: Pick<HostTools, "nsenter">;
  readonly base: BaseNamespace;
  /** The container's mount namespace. */
  readonly mountDescriptor: number;
  /** The container's network namespace. */
  readonly networkDescriptor: number;
  /** /dev/null, to stand in for streams that are not wanted and for inherited descriptors. */
  readonly nullDescriptor: number;
  readonly inherited: readonly number[];
  readonly launchArguments: readonly string[];
  /** Bubblewrap's options as it reads them. */
  readonly options: string;
  /** Null: no input, and output to nowhere. */
  readonly ends: ProgramEnds | null;
}

/** A launched sandbox, seen from the host: the process that becomes bubblewrap, and two of its streams. */
export interface LaunchedSandbox {
  readonly child: ChildProcess;
  readonly diagnostics: Readable;
  readonly handshake: Duplex;
}

/**
 * Starts a sandbox. Must be called on the main thread: sandboxes of bubblewrap end with the thread that started them.
 */
export function launchSandbox(options: SandboxLaunchOptions): LaunchedSandbox {
  const { base, mountDescriptor, nullDescriptor, ends } = options;
  const filter = openSync(reopenPath(base.filterDescriptor), constants.O_RDONLY);
  const stdio: ("pipe" | "ignore" | number)[] = [];
  for (const descriptor of options.inherited) stdio[descriptor] = nullDescriptor;
  stdio[0] = ends?.stdin ?? nullDescriptor;
  stdio[1] = ends?.stdout ?? nullDescriptor;
  stdio[descriptors.diagnostics] = "pipe";
  stdio[descriptors.mountNamespace] = mountDescriptor;
  stdio[descriptors.userNamespace] = base.userDescriptor ?? mountDescriptor;
  stdio[descriptors.seccompFilter] = filter;
  stdio[descriptors.handshake] = "pipe";
  stdio[descriptors.options] = "pipe";
  stdio[descriptors.stderr] = ends?.stderr ?? nullDescriptor;
  stdio[descriptors.networkNamespace] = options.networkDescriptor;
  try {
    const child = spawn(options.tools.nsenter, options.launchArguments, {
      cwd: "/",
      env: { PATH: hostPath },
      stdio: Array.from(stdio, (entry) => entry ?? "ignore"),
    });
    // Node's types know of five streams only.
    const streams = child.stdio as readonly unknown[];
    const input = streams[descriptors.options] as Writable;
    input.on("error", () => {
      // Its reader ended before; that end tells why.
    });
    input.end(options.options);
    const handshake = streams[descriptors.handshake] as Duplex;
    handshake.on("error", () => {
      // As above.
    });
    return { child, diagnostics: streams[descriptors.diagnostics] as Readable, handshake };
  } finally {
    closeSync(filter);
  }
}
