import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { resolveWorkingDirectory } from "../../policy/request/working-directory.ts";
import type { AddedProgramSpec } from "../../sandbox/added-program.ts";
import { handle } from "../handling/handler.ts";
import { inputOf } from "../handling/input-of.ts";
import { readCommand } from "../handling/read-command.ts";
import { reachSandbox } from "./reach-sandbox.ts";
import { followProgram } from "./follow-program.ts";
import { execInSandboxContract } from "./exec-contract.ts";

/** Runs one program in a live sandbox, next to its own programs. */
export const execInSandboxHandler = handle(execInSandboxContract, async (platform, request, call) => {
  const spec = { ...readProgram(request), command: readCommand(request.command, "command"), asProgram: true };
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(execInSandboxContract, { ...request, sandbox_id: place.id }, call);
  const { sandbox } = place;
  const program = await sandbox.exec(spec, { signal: call.signal });
  const { maxOutputBytes } = platform.config;
  const kept = { stdout: new BoundedOutput(maxOutputBytes), stderr: new BoundedOutput(maxOutputBytes) };
  const exitCode = await followProgram(program, {
    input: inputOf(request, call),
    signal: call.signal,
    signals: call.signals,
    sandbox,
    onOutput: (chunk) => {
      kept[chunk.stream].append(chunk.bytes);
      return call.onEvent?.({ type: "output", ...chunk });
    },
  });
  return {
    sandbox_id: sandbox.id,
    exit_code: exitCode,
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    stdout_truncated: kept.stdout.truncated,
    stderr_truncated: kept.stderr.truncated,
  };
});

/** Where such a program starts, as whom, and its variables. @throws INVALID_REQUEST naming the field */
export function readProgram({
  environment,
  cwd,
  user,
}: {
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
}): Pick<AddedProgramSpec, "environment" | "workingDirectory" | "user"> {
  if (cwd !== undefined && !cwd.startsWith("/")) throw invalidField("cwd", "an absolute path inside the sandbox", cwd);
  return {
    environment: checkEnvironment(environment ?? {}),
    workingDirectory: cwd === undefined ? undefined : resolveWorkingDirectory(cwd, "/"),
    user,
  };
}
