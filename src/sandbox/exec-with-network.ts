import type { EgressConnection } from "../egress/egress-connection.ts";
import type { Process } from "../engines/engine.ts";
import { openNetwork, type OpenNetwork } from "./open-network.ts";

export interface NetworkedExec extends OpenNetwork {
  /** Starts the program. */
  readonly program: () => Promise<Process>;
}

export interface NetworkedProcess {
  readonly process: Process;
  /** Must be closed when the process has ended. */
  readonly network: EgressConnection;
}

/**
 * Starts a process whose sandbox has a connection to the egress proxy (`openNetwork`), and resolves when that is open.
 * On failure the process is ended.
 * @throws NETWORK_ERROR, and what `exec` throws
 */
export async function execWithNetwork(exec: NetworkedExec): Promise<NetworkedProcess> {
  const opening = openNetwork(exec);
  try {
    return await startBeside(exec.program, opening);
  } catch (error) {
    opening.then(
      (network) => network.close(),
      () => undefined,
    );
    throw error;
  }
}

/** Starts a process while its network opens; it is ended if that fails. */
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
      // What is left of it ends with its sandbox, or is ended before the next program.
    });
    throw error;
  }
}
