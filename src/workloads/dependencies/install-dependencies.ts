import { untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import { runLine, type EndedLine, type RunLine } from "./run-line.ts";

/** How a project's dependencies are installed. */
export interface InstallLine extends Omit<RunLine, "grant" | "signal" | "onOutput"> {
  readonly network: GrantNetwork;
  readonly onProgress: (message: string) => void;
}

/**
 * Installs what a project needs, with the registries until that is done; resolves to null when it has gone well, else to
 * how it ended, for `explainInstallation`. @throws what starting a command throws
 */
export async function installDependencies(
  sandbox: Sandbox,
  install: InstallLine,
  caller: Caller,
): Promise<EndedLine | null> {
  install.onProgress(`Installing: ${install.line}`);
  const granting = install.network.grant({ kind: "registries" }, caller.principal);
  const grant = await untilCancelled(granting, caller.signal);
  const environment = { ...grant?.environment, ...install.environment };
  const onOutput = (): undefined => undefined;
  const ended = await runLine(sandbox, { ...install, environment, grant, signal: caller.signal, onOutput });
  return ended.end.exitCode === 0 && ended.isGone && ended.end.interruption === null ? null : ended;
}

/** Why an installation did not go well: CANCELLED or PACKAGE_INSTALL_FAILED. */
export function explainInstallation(line: string, { end, isGone }: EndedLine): GloveboxError {
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The run was cancelled.");
  return new GloveboxError(
    "PACKAGE_INSTALL_FAILED",
    `The installation (${line.slice(0, 200)}) ${howItEnded(end, isGone)}.`,
    {
      suggestion:
        "Read `output`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.",
    },
  );
}

function howItEnded({ interruption, exitCode }: EndedLine["end"], isGone: boolean): string {
  if (interruption === "timeout") return "took too long";
  return isGone ? `ended with exit code ${exitCode ?? "unknown"}` : "left something running";
}
