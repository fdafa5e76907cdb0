import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { settlesWithin } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import type { RunningCall } from "../../calls/running-call.ts";
import type { RunningCalls } from "../../calls/running-calls.ts";
import { GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOperation } from "../../operations/contract/operation-call.ts";
import type { Platform } from "../../platform/platform.ts";
import { unknownTool } from "../protocol-errors.ts";
import { declaresTasks } from "../tasks/task-methods.ts";
import type { CreateTaskResult, Tasks } from "../tasks/tasks.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { tellProgress } from "./progress-notices.ts";
import { tellAlerts } from "./alert-notices.ts";
import { parseToolArguments } from "./arguments/tool-arguments.ts";
import { viewArtifact, viewArtifactTool } from "./view-artifact.ts";
import { errorResult, runningResult, toolResult } from "./tool-result.ts";

/** A call that takes longer becomes a task if its client supports tasks. */
const taskAfterMs = 5_000;

/** What tool calls need. */
export interface ToolContext {
  readonly offered: readonly OfferedTool[];
  /** Whether `view_artifact` is among the tools. */
  readonly viewsArtifacts: boolean;
  readonly callOperation: CallOperation;
  /** Reports what happens to the caller's sandboxes meanwhile. */
  readonly alertBook: Pick<Platform["alertBook"], "listen">;
  readonly calls: RunningCalls<CallToolResult>;
  /** Counts the arguments of a call until it has ended, which may be long after its answer. */
  readonly inFlight: BytesInFlight;
  readonly tasks: Tasks;
  readonly texts: KeptTexts;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  /** A call that takes longer is answered with its id, and continues. */
  readonly answerWithinMs: number;
}

/** The caller and its connection. */
export interface CallOrigin {
  readonly principal: string;
  /** Undefined for single requests. */
  readonly connection: string | undefined;
}

/**
 * Does what a tool call requests, or answers in time that it continues. Aborting the request ends the work, even if the
 * request only queried it. Invalid arguments are reported in a regular answer too: a model sees nothing else (SPEC
 * MC2).
 * @throws ProtocolError for an unknown tool
 */
export async function callTool(
  context: ToolContext,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: unknown },
  { server, ...origin }: CallOrigin & { readonly server: ServerContext },
): Promise<CallToolResult | CreateTaskResult> {
  if (name === viewArtifactTool.name && context.viewsArtifacts) {
    try {
      return viewArtifact(context.texts, origin.principal, given);
    } catch (error) {
      return errorResult(toGloveboxError(error));
    }
  }
  const offered = context.offered.find((tool) => tool.name === name);
  if (offered === undefined) {
    throw unknownTool(
      name,
      context.offered.map((tool) => tool.name),
    );
  }
  let call: RunningCall<CallToolResult>;
  try {
    call = findOrBegin(context, offered, given, origin);
  } catch (error) {
    return errorResult(toGloveboxError(error));
  }
  return answer(context, offered, call, server);
}

/** @throws INVALID_REQUEST naming every field that does not fit, NOT_FOUND for an unknown run, CAPACITY */
function findOrBegin(
  { callOperation, calls, inFlight, texts, logger, monotonicMs }: ToolContext,
  offered: OfferedTool,
  given: unknown,
  origin: CallOrigin,
): RunningCall<CallToolResult> {
  const asked = parseToolArguments(offered, given);
  if (asked.type === "follow") {
    const call = calls.find(asked.runId, origin.principal);
    if (call.operation !== offered.name) throw ofAnotherTool(call, offered.name);
    if (asked.cancel) call.cancel();
    return call;
  }
  const held = inFlight.hold(origin.principal, lengthOf(given));
  const ended = (): void => held.release();
  const begin = (): RunningCall<CallToolResult> =>
    calls.start({
      operation: offered.name,
      principal: origin.principal,
      monotonicMs,
      work: (call) => callOperation(offered, asked.request, { ...call, ...origin }),
      conclude: (end, call) => {
        if ("error" in end && end.error.errorType === "INTERNAL") {
          logger.error({ err: end.error.cause ?? end.error }, "a tool call failed");
        }
        return toolResult(end, { tool: offered.tool, call, texts });
      },
    });
  try {
    const call = begin();
    void call.ended.finally(ended);
    return call;
  } catch (error) {
    ended();
    throw error;
  }
}

/** Characters of all texts in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((length, each) => length + lengthOf(each), 0);
}

/** A run is queried with the tool that returned its id: another tool's answer has another form. */
function ofAnotherTool({ id, operation }: RunningCall<CallToolResult>, name: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `run_id: ${id} is a run of ${operation}, not of ${name}.`, {
    suggestion: `Call ${operation} with {"run_id": "${id}"}.`,
    context: { field: "run_id", tool: operation },
  });
}

async function answer(
  { calls, tasks, alertBook, answerWithinMs }: ToolContext,
  { tool }: OfferedTool,
  call: RunningCall<CallToolResult>,
  server: ServerContext,
): Promise<CallToolResult | CreateTaskResult> {
  const { signal } = server.mcpReq;
  const asTask = declaresTasks(server);
  const onAbort = (): void => call.cancel();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const endProgress = tellProgress(call, server);
  const endAlerts = tellAlerts(alertBook, call.principal, server);
  try {
    const withinMs = asTask ? Math.min(answerWithinMs, taskAfterMs) : answerWithinMs;
    if (!tool.mayTakeLong || (await settlesWithin(call.ended, withinMs))) return await call.ended;
    calls.keep(call);
    if (!asTask) return runningResult(call);
    endProgress();
    return tasks.create(call);
  } finally {
    endProgress();
    endAlerts();
    signal.removeEventListener("abort", onAbort);
  }
}
