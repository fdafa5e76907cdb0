import { untilCancelled } from "../../base/abort.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import { lockedPolicy } from "../../policy/network/egress-policy.ts";
import { installingNetwork } from "../../policy/network/network.ts";
import { execWithNetwork } from "../../sandbox/network/exec-with-network.ts";
import { installFailed } from "./install-failed.ts";
import { noScriptsMark, noScriptsNote } from "./bun-command.ts";
import type { RunTool } from "./install.ts";
import { ageUnknownMark, ageUnknownNote } from "./min-age.ts";
import { installCommand, installEnvironment } from "./package-manager.ts";
import { toolFailed, toolResult } from "./tool-result.ts";

const notes = [
  [ageUnknownMark, ageUnknownNote],
  [noScriptsMark, noScriptsNote],
] as const;

/**
 * Runs the tool in a sandbox of the principal's: with the registries while it runs, with nothing from then on, and nothing
 * of this host.
 */
export function runSealedTool(network: Pick<NetworkAccess, "grant">, principal: string): RunTool {
  return async (installation, sandbox, signal) => {
    const { manager, specs } = installation;
    const grant = await untilCancelled(network.grant(installingNetwork, principal), signal);
    if (grant === null) throw new Error("a policy without a grant");
    const { process, network: connection } = await execWithNetwork({
      sandbox,
      program: () =>
        sandbox.exec(
          {
            command: installCommand(manager, specs, installation.minAge),
            environment: { LANG: "C.UTF-8", ...grant.environment, ...installEnvironment(sandbox) },
          },
          { signal },
        ),
      grant,
      onDenied: () => undefined,
      // An installation has no secret.
      redact: (text) => text,
      signal,
    });
    try {
      process.stdin.end("the network is up\n");
      const ended = await Promise.race([toolResult(process), connection.lost]);
      if (ended === undefined) {
        throw installFailed(specs, "the egress proxy ended during the installation", {
          suggestion: "Retry: the next installation starts a fresh proxy.",
          context: { retryable: true },
        });
      }
      await connection.change(lockedPolicy);
      if (ended.exitCode === 0) {
        for (const [mark, note] of notes) if (ended.output.includes(mark)) installation.onNote(note);
        return;
      }
      await connection.settle();
      const refused = new Set(connection.denials.map(({ target, rule }) => `${target} (${rule})`));
      const also = [...grant.warnings, ...(refused.size > 0 ? [`refused: ${[...refused].join(", ")}`] : [])];
      throw toolFailed(installation, ended, { also, remedy: connection.denials[0]?.remedy });
    } finally {
      connection.close();
    }
  };
}
