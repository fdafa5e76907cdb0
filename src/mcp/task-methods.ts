import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ClientCapabilities,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { RunningCall } from "../calls/running-call.ts";
import type { RunningCalls } from "../calls/running-calls.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { unknownMethod } from "./protocol-errors.ts";
import { timedRequest, type RequestTiming } from "./timed-request.ts";
import { tasksExtension, type Tasks } from "./tasks.ts";

const maxIdCharacters = 200;
const byTaskId = z.looseObject({ taskId: z.string().max(maxIdCharacters) });

export interface TaskMethods {
  readonly tasks: Tasks;
  readonly calls: RunningCalls<CallToolResult>;
  readonly timing: RequestTiming;
  /** Owner of the tasks; others' tasks are treated as unknown. */
  readonly principal: string;
}

/** Whether the client of this very request declares the extension (SPEC MC5); those of 2025-11-25 cannot. */
export function declaresTasks({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, ClientCapabilities>> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[tasksExtension] !== undefined;
}

/** `tasks/get`, `tasks/update` and `tasks/cancel` of the extension. */
export function setTaskMethods({ server }: McpServer, { tasks, calls, timing, principal }: TaskMethods): void {
  const find = (taskId: string): RunningCall<CallToolResult> => {
    const call = findCall(calls, taskId, principal);
    if (call === null || !tasks.has(call)) throw unknownTask(taskId);
    return call;
  };
  const serve = (method: string, answer: (call: RunningCall<CallToolResult>) => object): void =>
    server.setRequestHandler(method, { params: byTaskId }, ({ taskId }, context) =>
      timedRequest(timing, { method, tool: null, message: context.mcpReq }, () => {
        // A revision without the extension has no such method, or a different one of that name.
        if (context.mcpReq.envelope === undefined) throw unknownMethod(method);
        if (!declaresTasks(context)) throw notDeclared();
        return { ...answer(find(taskId)) };
      }),
    );
  serve("tasks/get", (call) => tasks.describe(call));
  // Our tasks never ask for input, so there is nothing to answer.
  serve("tasks/update", () => ({}));
  serve("tasks/cancel", (call) => {
    call.cancel();
    return {};
  });
}

function findCall(
  calls: RunningCalls<CallToolResult>,
  taskId: string,
  principal: string,
): RunningCall<CallToolResult> | null {
  try {
    return calls.find(taskId, principal);
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "NOT_FOUND") return null;
    throw error;
  }
}

/** The same error for one that never existed, that is no longer kept, or that is another principal's. */
function unknownTask(taskId: string): ProtocolError {
  const error = new GloveboxError("NOT_FOUND", `There is no task ${JSON.stringify(taskId.slice(0, 80))}.`, {
    suggestion: "A task is kept for 15 minutes after its end, and ends with the server. Call the tool again.",
    context: { task_id: taskId.slice(0, 80) },
  });
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.toWire());
}

/** A request about tasks of a client that does not declare the extension. */
export function notDeclared(): ProtocolError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } });
}
