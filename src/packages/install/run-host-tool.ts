import { kibibyte } from "../../base/bytes.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { installFailed } from "./install-failed.ts";
import type { RunTool } from "./install.ts";
import { hostCommand, installEnvironment, installFolder, prepareCommand } from "./package-manager.ts";
import { ageUnknownNote, ageVariables } from "./min-age.ts";
import { toolFailed, toolResult } from "./tool-result.ts";

/** What leads the tool to the registries that this machine is set up for. */
export interface HostRegistries {
  readonly environment: Readonly<Record<string, string>>;
  /** What could not be found out, one sentence each. */
  readonly problems: readonly string[];
}

const prepareMs = 30_000;

/**
 * Runs the tool on this machine itself, where nothing seals it (SPEC PK2): in a folder of its own, which also is its
 * home, and without any script of a package. It has the network that this machine has.
 */
export function runHostTool(host: { readonly registries: () => Promise<HostRegistries> }): RunTool {
  return async (installation, sandbox, signal) => {
    const { manager, interpreter, specs, minAge, onNote } = installation;
    const { environment, problems } = await host.registries();
    const prepared = await runSandboxCommand(
      sandbox,
      { command: prepareCommand(interpreter, sandbox), maxOutputBytes: kibibyte, timeLimitMs: prepareMs },
      { signal },
    );
    if (prepared.exitCode !== 0) throw installFailed(specs, "its folder could not be made", { cause: prepared.stderr });
    const aged = minAge === null ? {} : ageVariables(minAge);
    if (minAge !== null && manager === "pip" && !(await knowsAges(sandbox, signal))) {
      if (minAge.isDemanded) throw ageUnknown(specs);
      onNote(ageUnknownNote);
    }
    const process = await sandbox.exec(
      {
        command: hostCommand(manager, specs, sandbox, minAge),
        environment: { LANG: "C.UTF-8", ...environment, ...aged, ...installEnvironment(sandbox) },
        workingDirectory: installFolder,
      },
      { signal },
    );
    process.stdin.end();
    const ended = await toolResult(process);
    if (ended.exitCode !== 0) throw toolFailed(installation, ended, { also: problems });
  };
}

/** Whether the host's pip has the option. */
async function knowsAges(sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
  const command = ["python3", "-m", "pip", "install", "--help"];
  const limits = { maxOutputBytes: 256 * kibibyte, timeLimitMs: prepareMs };
  const { stdout } = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
  return stdout.text().includes("--uploaded-prior-to");
}

function ageUnknown(specs: readonly string[]): GloveboxError {
  return installFailed(specs, "this machine's pip cannot tell how long packages have been published", {
    suggestion:
      "Have the operator renew pip (26 or later), or leave packages.min_age (GLOVEBOX_PACKAGES_MIN_AGE) unset.",
    context: { setting: "packages.min_age" },
  });
}
