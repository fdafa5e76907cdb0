import type { RequestOf } from "../contract/operation-contract.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { resolveLimits } from "../../policy/resolve-limits.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { callListener } from "../handling/call-events.ts";
import { errorOfRun } from "../handling/program-to-wire.ts";
import { handle } from "../handling/handler.ts";
import { resultAlertsSince } from "../handling/result-alerts.ts";
import { inputOf } from "../handling/input-of.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { readSecrets } from "../handling/read-secrets.ts";
import { readCommandRequest } from "./command-request.ts";
import { runCommandContract, type RunCommandResponse } from "./run-command-contract.ts";
import { maxToolingFiles } from "./tooling-schema.ts";

type Request = RequestOf<typeof runCommandContract>;

/** `run_command`: one command in an environment, to its end. */
export const runCommandHandler = handle(runCommandContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<RunCommandResponse> {
  const { config, environments, alertBook } = platform;
  const plain = readCommandRequest(request);
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
  const { mark } = alertBook;
  const result = await environment.run(spec, {
    timeoutMs,
    signal: call.signal,
    runId: call.runId,
    stdin: inputOf(request, call),
    keptBytes: checkTail(request.tail_bytes, config.maxOutputBytes),
    onOutput: ({ stream, bytes }) => call.onEvent?.({ type: "output", stream, bytes }),
    onDenied: (denial) => void call.onEvent?.({ type: "denied", denial }),
    onSandbox: callListener(call).onSandbox,
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
    policy_digest: result.policyDigest,
    tooling_files: [...shortenTooling(result.toolingFiles, maxToolingFiles)],
    warnings: [...result.warnings],
    ...resultAlertsSince(alertBook, mark, result.sandboxId),
    ...errorOfRun(result.error, { kind: "environment", ceilings: config.ceilings }),
  };
}

/** @throws INVALID_REQUEST naming the maximum */
function checkTail(bytes: number | undefined, max: number): number | undefined {
  if (bytes === undefined || bytes <= max) return bytes;
  throw invalidField("tail_bytes", `at most ${max}, max_output_bytes of this deployment`, bytes);
}
