import { startBeside } from "../../sandbox/network/exec-with-network.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { startProgram, type ProgramStart, type StartedProgram } from "../run/start-program.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

export interface NetworkedStart extends Omit<ProgramStart, "sandbox"> {
  /** What the grant was given for. */
  readonly network: NetworkPolicy;
}

const mostDenialsKept = 20;

/**
 * Starts a program in a session's sandbox with its network: its own, or where all programs of the sandbox share one, a
 * part in that.
 * @throws POLICY_DENIED when programs with another network share it, and what `startProgram` throws
 */
export async function startNetworked(live: SessionSandbox, start: NetworkedStart): Promise<StartedProgram> {
  const { sandbox, sharedNetwork } = live;
  if (sandbox.capabilities.execNetwork !== "shared") return startProgram({ ...start, sandbox });
  const { grant, network: policy, runner, redact, signal } = start;
  const denials: Denial[] = [];
  let denialCount = 0;
  const part = sharedNetwork.join({
    policy,
    redact,
    onDenied: (denial) => {
      denialCount += 1;
      if (denials.length < mostDenialsKept) denials.push(denial);
      start.onDenied(denial);
    },
  });
  try {
    if (grant === null) {
      const started = await startProgram({ ...start, sandbox });
      return { ...started, [Symbol.dispose]: () => part.leave() };
    }
    const opening = part.open({ sandbox, grant, interpreter: start.toolchain, signal });
    const { process, network } = await startBeside(() => runner(), opening);
    return {
      process,
      networkReport: async () => {
        await network.settle();
        return { denials, denialCount, isLost: network.isLost };
      },
      [Symbol.dispose]: () => part.leave(),
    };
  } catch (error) {
    part.leave();
    throw error;
  }
}
