import { pathOfTooling, shortenTooling } from "../policy/tooling/tooling-changes.ts";
import type { AgentResult } from "../workloads/agent/agent-result.ts";
import { runContainerAgent } from "../workloads/agent/run-agent.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import type { RequestOf } from "./contract/operation-contract.ts";
import { maxToolingFiles } from "./environments/tooling-schema.ts";
import type { RunLimits } from "./handling/limit-advice.ts";
import { runToWire } from "./handling/program-to-wire.ts";
import { handle } from "./handling/handler.ts";
import { callListener, imageProvider } from "./handling/call-events.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";
import { resultAlertsSince } from "./handling/result-alerts.ts";
import { openMounts } from "./open-mounts.ts";
import { makeAgentStateDirectory } from "./agent-folder.ts";
import { additionalOf, agentSpecOf } from "./agent-spec.ts";
import { runAgentContract, type RunAgentResponse } from "./run-agent-contract.ts";

type Request = RequestOf<typeof runAgentContract>;

/** `run_agent`: a coding agent of a group, in a container of its own. */
export const runAgentHandler = handle(runAgentContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<RunAgentResponse> {
  const spec = await agentSpecOf(platform, request, call);
  if (spec.group.openFolder !== undefined) await makeAgentStateDirectory(platform.host);
  const { engine, notes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    containers: true,
    signal: call.signal,
  });
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const told: string[] = [...notes];
  const { policy } = await platform.loadMountPolicy();
  const { config, host } = platform;
  const { mark } = platform.alertBook;
  const result = await runContainerAgent(
    {
      ...spec,
      mountPolicy: policy,
      openAdditional: async () => {
        const { mounts, notices } = await openMounts(platform, additionalOf(spec), spec.group.isMain);
        told.push(...notices);
        return mounts;
      },
    },
    {
      ...platform,
      engine,
      turns: platform.agentTurns,
      maxOutputBytes: config.maxOutputBytes,
      platform: host.platform,
      executable: host.executable,
      uid: host.uid,
      provideImage: imageProvider(platform, engine, call),
    },
    call,
    callListener(call, request.name),
  );
  return {
    ...toWire(result, told, { kind: "agent", ceilings: config.ceilings }),
    ...resultAlertsSince(platform.alertBook, mark, result.sandboxId),
  };
}

function toWire(result: AgentResult, notes: readonly string[], limits: RunLimits): RunAgentResponse {
  return {
    status: result.status,
    result: result.result,
    ...(result.newSessionId === null ? {} : { new_session_id: result.newSessionId }),
    ...(result.agentError === null ? {} : { agent_error: result.agentError }),
    ...runToWire(result, notes, limits),
    output: result.output,
    stderr: result.stderr,
    log: result.log,
    image: result.image,
    sandbox_id: result.sandboxId,
    tooling_files: shortenTooling(result.toolingFiles, maxToolingFiles).map((file) => ({
      path: pathOfTooling(file),
      change: file.change,
    })),
  };
}
