import type { EgressConnection } from "../../egress/egress-connection.ts";
import type { Process } from "../../engines/engine.ts";
import { openNetwork, type OpenNetwork } from "./open-network.ts";

export interface NetworkedExec extends OpenNetwork {
  /** Starts the program, with the companion where one is given. */
  readonly program: (companion?: readonly string[]) => Promise<Process>;
}

export interface NetworkedProcess {
  readonly process: Process;
  /** To be closed when the process has ended. */
  readonly network: EgressConnection;
}

/**
 * Starts a process whose sandbox has a way to the egress proxy (`openNetwork`), and resolves when that way is open. Where
 * each program has a network of its own, the forwarder is the process's companion. On failure the process is ended.
 * @throws NETWORK_ERROR, and what `exec` throws
 */
export async function execWithNetwork(exec: NetworkedExec): Promise<NetworkedProcess> {
  if (exec.sandbox.capabilities.execNetwork !== "own") return startWith(exec.program, openNetwork(exec));
  const { promise: process, resolve, reject } = Promise.withResolvers<Process>();
  const network = openNetwork(exec, async (command) => {
    const started = await exec.program(command);
    resolve(started);
    const { channel } = started;
    if (channel === undefined) throw new Error("the engine gave the companion no channel");
    return { input: channel, output: channel };
  });
  network.catch(reject);
  return startWith(() => process, network);
}

async function startWith(
  program: () => Promise<Process>,
  opening: Promise<EgressConnection>,
): Promise<NetworkedProcess> {
  try {
    return await startBeside(program, opening);
  } catch (error) {
    opening.then(
      (network) => network.close(),
      () => undefined,
    );
    throw error;
  }
}

/** Starts a process while its network opens; it is ended when that fails. */
export async function startBeside(
  program: () => Promise<Process>,
  opening: Promise<EgressConnection>,
): Promise<NetworkedProcess> {
  const starting = program();
  try {
    const [process, network] = await Promise.all([starting, opening]);
    return { process, network };
  } catch (error) {
    const process = await starting.catch(() => null);
    await process?.kill("SIGKILL").catch(() => {
      // What is left of it goes with its sandbox, or is the next one's to end.
    });
    throw error;
  }
}
