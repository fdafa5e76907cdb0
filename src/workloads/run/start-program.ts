import type { NetworkAccess, NetworkGrant } from "../../egress/network-access.ts";
import type { Process } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { execWithNetwork } from "../../sandbox/exec-with-network.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { NetworkSandbox } from "../../sandbox/open-network.ts";
import { noNetworkReport, type NetworkReport } from "./explain-network.ts";

export interface ProgramStart {
  readonly sandbox: NetworkSandbox & Partial<Pick<Sandbox, "hearNames">>;
  readonly runner: () => Promise<Process>;
  /** Null: no network at all. */
  readonly grant: NetworkGrant | null;
  readonly onDenied: (denial: Denial) => void;
  /** Removes from what the program asked for what must not be shown. */
  readonly redact: (text: string) => string;
  readonly signal?: AbortSignal | undefined;
}

export interface StartedProgram extends Disposable {
  readonly process: Process;
  /** Everything that was refused so far. */
  networkReport(): Promise<NetworkReport>;
}

/** Starts the runner in its sandbox, with the network that was granted. @throws what `execWithNetwork` throws */
export async function startProgram(start: ProgramStart): Promise<StartedProgram> {
  const { sandbox, runner, grant, onDenied, redact, signal } = start;
  if (grant === null) return startWithoutNetwork(start);
  const { process, network } = await execWithNetwork({
    sandbox,
    program: runner,
    grant,
    onDenied,
    redact,
    signal,
  });
  return {
    process,
    networkReport: async () => {
      await network.settle();
      return { denials: network.denials, denialCount: network.denialCount, isLost: network.isLost };
    },
    [Symbol.dispose]: () => network.close(),
  };
}

/** Hears from the start on which names it looks up: it may look for one at once. */
async function startWithoutNetwork({ sandbox, runner, redact }: ProgramStart): Promise<StartedProgram> {
  const lookedUp: string[] = [];
  const hearing = sandbox.hearNames?.((name) => {
    // A name with a secret in it is not shown at all: what is left of it would be another name.
    if (redact(name) === name) lookedUp.push(name);
  });
  try {
    const process = await runner();
    return {
      process,
      networkReport: () => Promise.resolve({ ...noNetworkReport, lookedUp: [...lookedUp] }),
      [Symbol.dispose]: () => hearing?.[Symbol.dispose](),
    };
  } catch (error) {
    hearing?.[Symbol.dispose]();
    throw error;
  }
}

/** The part of `NetworkAccess` that a run needs. */
export type GrantNetwork = Pick<NetworkAccess, "grant">;
