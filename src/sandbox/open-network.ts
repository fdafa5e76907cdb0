import type { EgressConnection } from "../egress/egress-connection.ts";
import { forwarderCommand, forwarderUser, type ForwarderInterpreter } from "../egress/forwarder.ts";
import type { NetworkGrant } from "../egress/network-access.ts";
import type { RedactText } from "../egress/refusal-listener.ts";
import type { Process } from "../engines/engine.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { Sandbox } from "./sandbox.ts";

export interface OpenNetwork {
  /** Its programs must share one network (`capabilities.execNetwork`). */
  readonly sandbox: Pick<Sandbox, "id" | "exec">;
  readonly grant: NetworkGrant;
  readonly interpreter: ForwarderInterpreter;
  readonly onDenied: (denial: Denial) => void;
  /** Takes out of what programs asked for what must not be shown. */
  readonly redact: RedactText;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives all programs of a sandbox the way to the egress proxy, until the connection is closed; resolves when it is open.
 * @throws NETWORK_ERROR, and what `exec` throws
 */
export async function openNetwork(open: OpenNetwork): Promise<EgressConnection> {
  const { sandbox, grant, interpreter, onDenied, redact, signal } = open;
  const command = await forwarderCommand(interpreter);
  const network = await grant.connect(sandbox.id, redact);
  network.onDenied = onDenied;
  try {
    const forwarder = await sandbox.exec({ command, user: forwarderUser, workingDirectory: "/" }, { signal });
    network.attach({ input: forwarder.stdin, output: stdoutOf(forwarder) }, grant.preamble);
    await network.ready(signal);
    return network;
  } catch (error) {
    network.close();
    throw error;
  }
}

/** What a process writes to its standard output. */
export async function* stdoutOf(process: Process): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { stream, bytes } of process.output) if (stream === "stdout") yield bytes;
}
