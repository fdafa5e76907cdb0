import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { isRefused } from "./port-relays.ts";

/**
 * Checks, before a program is started, that its ports can be reached and that no other program listens on them: all
 * programs of the sandbox share one loopback.
 * @throws UNSUPPORTED if ports cannot be reached, ALREADY_EXISTS if another program listens on one, CANCELLED
 */
export async function assertPortsFree(
  sandbox: Pick<Sandbox, "engineName" | "capabilities" | "connect">,
  ports: readonly number[],
  options: CallOptions,
): Promise<void> {
  if (ports.length === 0) return;
  if (sandbox.capabilities.execNetwork === "none") throw unreachable(sandbox);
  for (const port of ports) {
    try {
      (await sandbox.connect(port, options)).destroy();
    } catch (error) {
      if (isRefused(error)) continue;
      throw error;
    }
    throw new GloveboxError("ALREADY_EXISTS", `Another program of the sandbox listens on port ${port} already.`, {
      suggestion: "Choose another port, or end the other program first.",
      context: { field: "ports", port },
    });
  }
}

function unreachable({ engineName, capabilities }: Pick<Sandbox, "engineName" | "capabilities">): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engineName} cannot reach the ports of programs here.`, {
    suggestion: "Leave ports out, or choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { field: "ports", engine: engineName, missing: "execNetwork", isolation: capabilities.isolation },
  });
}
