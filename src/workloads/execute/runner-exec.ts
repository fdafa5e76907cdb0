import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { ExecSpec } from "../../engines/engine.ts";
import type { Profile } from "../../policy/profile.ts";
import { withPlainOutput } from "../../policy/request/plain-output.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { runnerCommand, type Toolchain } from "../program/languages.ts";
import { readRunner } from "../program/read-runner.ts";
import { withRealFolders } from "../program/real-folders.ts";

/** What determines how the runner of a program is started. */
export interface RunnerNeeds {
  readonly toolchain: Toolchain;
  readonly mainFile: string;
  readonly profile: Pick<Profile, "workingDirectory" | "environment">;
}

/** The command that starts a runner in that sandbox, which then waits for its job. */
export async function runnerExec(
  { toolchain, mainFile, profile }: RunnerNeeds,
  sandbox: Pick<Sandbox, "capabilities" | "folderOf">,
): Promise<ExecSpec> {
  const { workingDirectory, environment } = profile;
  const source = await readRunner(toolchain);
  const folder = sandbox.folderOf(workingDirectory);
  const withoutShell = runsInterpretersOnly(sandbox.capabilities);
  return {
    command: runnerCommand({ toolchain, mainFile, source, folder, withoutShell }),
    environment: withRealFolders(withPlainOutput(environment), sandbox),
    workingDirectory,
  };
}
