import { startBeside } from "../../sandbox/exec-with-network.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { startProgram, type ProgramStart, type StartedProgram } from "./start-program.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SharedNetwork } from "../../sandbox/shared-network.ts";
import { DenialLog } from "./denial-log.ts";

export interface NetworkedStart extends Omit<ProgramStart, "sandbox"> {
  /** What the grant was given for. */
  readonly network: NetworkPolicy;
}

/** A sandbox in which several programs run, and the network that they share where each has none of its own. */
export interface NetworkedSandbox {
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
