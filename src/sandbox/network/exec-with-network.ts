import type { EgressConnection } from "../../egress/egress-connection.ts";
import type { Process } from "../../engines/engine.ts";
import { openNetwork, type OpenNetwork } from "./open-network.ts";

export interface NetworkedExec extends OpenNetwork {
  /** Starts the program. */
  readonly program: () => Promise<Process>;
}

export interface NetworkedProcess {
  readonly process: Process;
  /** To be closed when the process has ended. */
  readonly network: EgressConnection;
}

/**
 * Starts a process whose sandbox has a way to the egress proxy (`openNetwork`), and resolves when that way is open. On
 * failure the process is ended.
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
