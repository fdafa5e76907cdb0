import type { NetworkAccess, NetworkGrant } from "../../egress/network-access.ts";
import type { Process } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import {
  execWithNetwork,
  startBeside,
  type NetworkSandbox,
  type SharedNetwork,
} from "../../sandbox/sandbox-network.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { noNetworkReport, DenialLog, type NetworkReport } from "./network-report.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";

interface ProgramStart {
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

/** The part of `NetworkAccess` that a run needs. */
export type GrantNetwork = Pick<NetworkAccess, "grant">;

interface NetworkedStart extends Omit<ProgramStart, "sandbox"> {
  /** What the grant was given for. */
  readonly network: NetworkPolicy;
}

/** A sandbox in which several programs run, and the network that they share where each has none of its own. */
interface NetworkedSandbox {
  readonly sandbox: Sandbox;
  readonly sharedNetwork: SharedNetwork;
}

/**
 * Starts a program in such a sandbox with its network: its own, or where all programs of the sandbox share one, a
 * part in that.
 * @throws POLICY_DENIED when programs with another network share it, and what `startProgram` throws
 */
export async function startNetworked(live: NetworkedSandbox, start: NetworkedStart): Promise<StartedProgram> {
  const { sandbox, sharedNetwork } = live;
  if (sandbox.capabilities.execNetwork !== "shared") return startProgram({ ...start, sandbox });
  const { grant, network: policy, runner, redact, signal } = start;
  const denials = new DenialLog(start.onDenied);
  const part = sharedNetwork.join({
    policy,
    redact,
    onDenied: (denial) => denials.add(denial),
  });
  try {
    if (grant === null) {
      const started = await startProgram({ ...start, sandbox });
      return {
        ...started,
        [Symbol.dispose]: () => {
          started[Symbol.dispose]();
          part.leave();
        },
      };
    }
    const opening = part.open({ sandbox, grant, signal });
    const { process, network } = await startBeside(() => runner(), opening);
    return {
      process,
      networkReport: async () => {
        await network.settle();
        return denials.report(network.isLost);
      },
      [Symbol.dispose]: () => part.leave(),
    };
  } catch (error) {
    part.leave();
    throw error;
  }
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
