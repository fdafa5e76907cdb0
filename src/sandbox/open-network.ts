import type { EgressConnection, RedactText } from "../egress/egress-connection.ts";
import { certificateFile, networkPort, type NetworkGrant } from "../egress/network-access.ts";
import type { CallOptions } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Denial } from "../policy/network/denial.ts";
import { helperUser } from "../policy/profile.ts";
import type { Sandbox } from "./sandbox.ts";

/** A sandbox that may have a network. */
export type NetworkSandbox = Pick<Sandbox, "id" | "capabilities" | "listen" | "placeFile">;

export interface OpenNetwork {
  readonly sandbox: NetworkSandbox;
  readonly grant: NetworkGrant;
  readonly onDenied: (denial: Denial) => void;
  /** Removes secrets from the destinations that programs requested. */
  readonly redact: RedactText;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects the sandbox to the egress proxy until the connection is closed; resolves when it is open.
 *
 * The sandbox itself has no network. What its programs say at a port of its loopback is carried to the proxy.
 * @throws NETWORK_ERROR, and what the engine throws
 */
export async function openNetwork(open: OpenNetwork): Promise<EgressConnection> {
  const { sandbox, grant, onDenied, redact, signal } = open;
  const network = await grant.connect(sandbox.id, redact);
  network.onDenied = onDenied;
  try {
    await connect(sandbox, { grant, network, signal });
    return network;
  } catch (error) {
    network.close();
    throw error;
  }
}

async function connect(
  sandbox: NetworkSandbox,
  { grant, network, signal }: CallOptions & { readonly grant: NetworkGrant; readonly network: EgressConnection },
): Promise<void> {
  const { execUser, helperUser: hasHelpers = execUser } = sandbox.capabilities;
  const user = hasHelpers ? helperUser : undefined;
  const { listen, placeFile } = sandbox;
  if (listen === undefined || placeFile === undefined) throw noNetwork();
  await Promise.all([
    placeFile({ path: certificateFile, content: Buffer.from(grant.certificates), user }, { signal }),
    network.serve((onConnection) => listen(networkPort, onConnection, { signal })),
  ]);
}

function noNetwork(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "A sandbox without walls of its own has no network of its own either.", {
    suggestion: "Choose an engine whose isolation is at least namespaces, or leave network out.",
    context: { field: "network", missing: "execNetwork" },
  });
}
