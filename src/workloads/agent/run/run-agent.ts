import { untilCancelled } from "../../../base/abort.ts";
import { runMended } from "../../../engines/mend/run-mended.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { checkEngine } from "../../program/check-engine.ts";
import { loggingFailure, type RunIds } from "../../run/log-ending.ts";
import { openAgentFolders, type AgentFolders } from "../folders/agent-folders.ts";
import { agentMounts, assertMayBeMounted } from "../folders/agent-mounts.ts";
import { assertCanHoldAgents } from "./agent-plan.ts";
import type { AgentResult } from "./agent-result.ts";
import type { AgentDependencies, AgentListener, AgentRun, ReadyAgent } from "./agent-run.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { runInContainer } from "./run-in-container.ts";

/**
 * Runs a coding agent for a group in a container of its own, with the group's folders (SPEC AG1); runs of one group
 * come one after another, and waiting does not count against the time. If an agent fails or gives no answer, that is a
 * result.
 * @throws NOT_FOUND, POLICY_DENIED, UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, PERMISSION_DENIED,
 * and CANCELLED if aborted before it started
 */
export function runContainerAgent(
  spec: AgentSpec,
  dependencies: AgentDependencies,
  caller: Caller,
  listener: AgentListener,
): Promise<AgentResult> {
  const ids: RunIds = { id: caller.runId, principal: caller.principal };
  const { turns, logger } = dependencies;
  const run: AgentRun = { spec, dependencies, caller, listener, ids };
  const onWait = (): void => listener.onProgress("Waiting for another run of the group");
  const key = `${spec.paths.directory}\0${spec.group.name}`;
  return loggingFailure(logger, ids, () =>
    turns.inTurn(key, { signal: caller.signal, onWait }, () => prepareAndRun(run)),
  );
}

async function prepareAndRun(run: AgentRun): Promise<AgentResult> {
  const { spec, dependencies, caller } = run;
  const { engine, platform } = dependencies;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  assertCanHoldAgents(capabilities, engine.name);
  await using folders = await openAgentFolders(spec.paths, spec.group, platform);
  const own = agentMounts(folders, spec.group.name);
  for (const mount of own) assertMayBeMounted(spec.mountPolicy, mount);
  const additional = await spec.openAdditional();
  try {
    await dependencies.provideImage(spec.image, spec.imageOrigin);
    const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
    const memory = await dependencies.findMemory({ ...spec.memory, folders, prompt: spec.prompt }, caller.signal);
    const ready: ReadyAgent = {
      capabilities,
      folders,
      mounts: [...own, ...additional],
      grant,
      memoryContext: memory.context,
      warnings: [...warnings, ...(grant?.warnings ?? []), ...memory.warnings, ...foreignFolders(folders)],
    };
    // Retries if the engine's network was down, which made the run fail, and could be restored (SPEC AG4).
    return await runMended({
      ...{ engine, now: dependencies.now, signal: caller.signal },
      run: () => runInContainer(run, ready),
      troubleOf: ({ outcome, stderr, agentError }) =>
        outcome === "failed" ? { text: `${stderr}\n${agentError ?? ""}` } : null,
      onRetry: () => run.listener.onProgress("The engine was restarted; the agent runs again"),
    });
  } finally {
    for (const { place } of additional) await place[Symbol.asyncDispose]();
  }
}

/** The agent runs as the owner of its workspace, and could not write to anyone else's. */
function foreignFolders({ workspace, state, ipc }: AgentFolders): readonly string[] {
  const { uid } = workspace.owner;
  const foreign = [state, ipc].filter(({ owner }) => owner.uid !== uid && uid !== 0);
  if (foreign.length === 0) return [];
  return [
    `the agent runs as user ${uid}, to whom the group's workspace belongs; folders of it below data/ belong to another user, so that it may be unable to write there.`,
  ];
}
