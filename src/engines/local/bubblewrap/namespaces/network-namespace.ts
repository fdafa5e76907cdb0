import { openSync } from "node:fs";
import { systemArguments } from "../arguments/bwrap-arguments.ts";
import { enterArguments } from "../arguments/launch-arguments.ts";
import { childOf } from "../run/process-family.ts";
import type { BaseNamespace } from "./base-namespace.ts";
import type { HostRoot } from "./host-root.ts";
import type { HostTools } from "./host-tools.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";

export interface NetworkNamespaceOptions {
  readonly tools: Pick<HostTools, "bwrap" | "nsenter">;
  readonly base: BaseNamespace;
  readonly root: HostRoot;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A network namespace for one container, with only loopback in it, which is up. It belongs to a user namespace that no
 * program is in, so no program has rights in it. Only the returned descriptor and the programs in it keep it alive.
 * Bubblewrap makes it because it also brings loopback up: no other tool that does is present on every host.
 * @throws Error with the tools' words, CANCELLED
 */
export async function openNetworkNamespace({ tools, base, root, signal }: NetworkNamespaceOptions): Promise<number> {
  const args = [
    ...enterArguments(base.userDescriptor !== null),
    ...[tools.bwrap, "--unshare-net", "--die-with-parent", "--cap-drop", "ALL", ...systemArguments(root)],
    ...["--", "/bin/sh", "-c", setupEnd],
  ];
  const descriptors = [base.mountDescriptor, base.userDescriptor ?? base.mountDescriptor];
  return withSetupProcess({ file: tools.nsenter, args, descriptors, signal }, (processId) => {
    const inside = childOf(processId);
    if (inside === null) throw new Error("the network namespace ended while it was made");
    return openSync(`/proc/${inside}/ns/net`, "r");
  });
}
