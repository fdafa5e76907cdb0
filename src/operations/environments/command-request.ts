import { invalidField } from "../../errors/glovebox-error.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { resolveWorkingDirectory } from "../../policy/request/working-directory.ts";
import type { CommandSpec } from "../../workloads/program/command-spec.ts";
import type { RequestCommand } from "../contract/command-schema.ts";
import { readCommand } from "../handling/read-command.ts";
import { projectFolder } from "../../workloads/environment/environment-spec.ts";

type Variables = Readonly<Record<string, string>>;

/** What requests that start something in an environment have in common. */
export interface CommandRequest {
  readonly command: RequestCommand;
  readonly environment?: Variables | undefined;
  readonly env?: Variables | undefined;
  readonly cwd?: string | undefined;
}

/**
 * The command of a request, checked; it starts in the project's folder by default. @throws INVALID_REQUEST naming the
 * field
 */
export function readCommandRequest(request: CommandRequest, folder: string = projectFolder): CommandSpec {
  return {
    command: readCommand(request.command, "command"),
    environment: readVariables(request),
    workingDirectory: resolveWorkingDirectory(request.cwd, folder),
  };
}

/** The variables of a request that accepts them under either of two names. @throws INVALID_REQUEST */
export function readVariables({ environment, env }: Pick<CommandRequest, "environment" | "env">): Variables {
  if (environment !== undefined && env !== undefined) {
    throw invalidField("env", "to be left out beside environment, which is the same", "both");
  }
  return env === undefined ? checkEnvironment(environment ?? {}) : checkEnvironment(env, "env");
}
