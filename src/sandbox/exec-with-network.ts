import type { EgressConnection, ForwarderChannel } from "../egress/egress-connection.ts";
import { forwarderCommand, forwarderUser, type ForwarderInterpreter } from "../egress/forwarder.ts";
import type { NetworkGrant } from "../egress/network-access.ts";
import type { RedactText } from "../egress/refusal-listener.ts";
import type { Process } from "../engines/engine.ts";
import type { Denial } from "../policy/network/denial.ts";
import { stdoutOf } from "./open-network.ts";
import type { Sandbox } from "./sandbox.ts";

export interface NetworkedExec {
  readonly sandbox: Pick<Sandbox, "id" | "capabilities" | "exec">;
  /** Starts the program, with the companion where one is given. */
  readonly program: (companion?: readonly string[]) => Promise<Process>;
  readonly grant: NetworkGrant;
  readonly interpreter: ForwarderInterpreter;
  readonly onDenied: (denial: Denial) => void;
  /** Takes out of what the program asked for what must not be shown. */
  readonly redact: RedactText;
  readonly signal?: AbortSignal | undefined;
}

export interface NetworkedProcess {
  readonly process: Process;
  /** To be closed when the process has ended. */
  readonly network: EgressConnection;
}

/**
 * Starts a process whose sandbox has a way to the egress proxy, and resolves when that way is open.
 *
 * The sandbox itself has no network. A forwarder inside listens on loopback and passes bytes on over its standard
 * streams: a further process of the sandbox where all share loopback, else the process's companion.
 * @throws NETWORK_ERROR, and what `exec` throws
 */
export async function execWithNetwork(exec: NetworkedExec): Promise<NetworkedProcess> {
  const { sandbox, grant, interpreter, onDenied, redact, signal } = exec;
  const command = await forwarderCommand(interpreter);
  const network = await grant.connect(sandbox.id, redact);
  network.onDenied = onDenied;
  try {
    const { process, channel } = await start(exec, command);
    network.attach(channel, grant.preamble);
    await network.ready(signal);
    return { process, network };
  } catch (error) {
    network.close();
    throw error;
  }
}

async function start(
  { sandbox, program, signal }: NetworkedExec,
  command: readonly string[],
): Promise<{ readonly process: Process; readonly channel: ForwarderChannel }> {
  if (sandbox.capabilities.execNetwork === "own") {
    const process = await program(command);
    const { channel } = process;
    if (channel === undefined) throw new Error("the engine gave the companion no channel");
    return { process, channel: { input: channel, output: channel } };
  }
  const [forwarder, process] = await Promise.all([
    sandbox.exec({ command, user: sandbox.capabilities.execUser ? forwarderUser : undefined }, { signal }),
    program(),
  ]);
  return { process, channel: { input: forwarder.stdin, output: stdoutOf(forwarder) } };
}
