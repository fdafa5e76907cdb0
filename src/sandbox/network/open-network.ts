import type { EgressConnection, ForwarderChannel } from "../../egress/egress-connection.ts";
import { forwarderCommand, forwarderUser, type ForwarderInterpreter } from "../../egress/forwarder.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { RedactText } from "../../egress/refusal-listener.ts";
import type { CallOptions, Process } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Sandbox } from "../sandbox.ts";

export interface OpenNetwork {
  readonly sandbox: Pick<Sandbox, "id" | "capabilities" | "exec">;
  readonly grant: NetworkGrant;
  readonly interpreter: ForwarderInterpreter;
  readonly onDenied: (denial: Denial) => void;
  /** Removes secrets from the destinations that programs requested. */
  readonly redact: RedactText;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects the sandbox to the egress proxy until the connection is closed; resolves when it is open.
 *
 * The sandbox itself has no network. A forwarder inside, an additional process that serves all programs there, listens
 * on loopback and relays bytes over its standard streams.
 * @throws NETWORK_ERROR, and what starting the forwarder throws
 */
export async function openNetwork(open: OpenNetwork): Promise<EgressConnection> {
  const { sandbox, grant, interpreter, onDenied, redact, signal } = open;
  const command = await forwarderCommand(interpreter);
  const network = await grant.connect(sandbox.id, redact);
  network.onDenied = onDenied;
  try {
    network.attach(await execForwarder(sandbox, command, { signal }), grant.preamble);
    await network.ready(signal);
    return network;
  } catch (error) {
    network.close();
    throw error;
  }
}

async function execForwarder(
  sandbox: Pick<Sandbox, "capabilities" | "exec">,
  command: readonly string[],
  options: CallOptions,
): Promise<ForwarderChannel> {
  const user = sandbox.capabilities.execUser ? forwarderUser : undefined;
  const forwarder = await sandbox.exec({ command, user, inheritsEnvironment: false, workingDirectory: "/" }, options);
  return { input: forwarder.stdin, output: stdoutOf(forwarder) };
}

/** What a process writes to its standard output. */
async function* stdoutOf(process: Process): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { stream, bytes } of process.output) if (stream === "stdout") yield bytes;
}
