import type { z } from "zod";
import type { Platform } from "../../platform/platform.ts";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { resolveLimits } from "../../policy/limits/resolve-limits.ts";
import type { Operation, OperationCall } from "../operation.ts";
import { readSecrets } from "../read-secrets.ts";
import { readCommand } from "./read-command.ts";
import { runCommandRequestSchema, runCommandResponseSchema, type RunCommandResponse } from "./schema.ts";
import { mostToolingFiles } from "./tooling-schema.ts";

type Request = z.output<typeof runCommandRequestSchema>;

/** `run_command`: one command in an environment, to its end. */
export const runCommandOperation: Operation<typeof runCommandRequestSchema, typeof runCommandResponseSchema, Platform> =
  {
    name: "run_command",
    description: [
      "Runs a command in an environment and waits for its end. The answer has the newest 64 KiB of each stream.",
      "A command that fails is an answer, not an error: read `outcome`, `exit_code` and `stderr_tail`.",
      "Its standard input is empty. At the timeout it is ended with all that it started; other commands go on.",
      "For servers and watchers use start_process.",
    ].join(" "),
    request: runCommandRequestSchema,
    response: runCommandResponseSchema,
    run,
  };

async function run(platform: Platform, request: Request, call: OperationCall): Promise<RunCommandResponse> {
  const { config, environments } = platform;
  const plain = readCommand(request);
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "environment",
    taken: Object.keys(plain.environment),
  });
  const spec = { ...plain, secrets };
  const environment = await environments.find(request.env_id, call.principal);
  const { timeoutMs } = resolveLimits({
    kind: "environment",
    defaults: { ...config.limits, environment: environment.spec.limits },
    ceilings: config.ceilings,
    requested: request.timeout_seconds === undefined ? {} : { timeout_seconds: request.timeout_seconds },
    fieldNames: { timeout_seconds: "timeout_seconds" },
  });
  const result = await environment.run(spec, {
    timeoutMs,
    signal: call.signal,
    onOutput: ({ stream, bytes }) => call.onEvent?.({ type: "output", stream, bytes }),
    onDenied: (denial) => void call.onEvent?.({ type: "denied", denial }),
  });
  return {
    outcome: result.outcome,
    exit_code: result.exitCode,
    stdout_tail: result.stdout.text(),
    stderr_tail: result.stderr.text(),
    stdout_dropped_bytes: result.stdout.droppedBytes,
    stderr_dropped_bytes: result.stderr.droppedBytes,
    duration_ms: result.durationMs,
    timed_out: result.outcome === "timed_out",
    restarted: result.restarted,
    tooling_files: [...shortenTooling(result.toolingFiles, mostToolingFiles)],
    warnings: [...result.warnings],
    ...(result.error === null ? {} : { error: result.error.toWire() }),
  };
}
