import {
  ProtocolError,
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolErrorCode,
  isJSONRPCRequest,
  type CallToolResult,
  type JSONRPCMessage,
  type ServerContext,
  type ClientCapabilities,
  type McpServer,
  type JSONRPCErrorResponse,
} from "@modelcontextprotocol/server";
import { keptForMs, type RunningCall, type RunningCalls } from "../calls/running-calls.ts";
import { describeProgress } from "./tools/progress-notices.ts";
import type { Platform } from "../platform/platform.ts";
import { z } from "zod";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { unknownMethod } from "./json-rpc.ts";

/** Name of the extension, in the capabilities of both sides. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** How often a client should poll; it is not notified in between. */
const pollIntervalMs = 2_000;

/** The fields of a task that both its creation and its state have, as the extension names them. */
interface Task {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Counted from its creation; null while it is running, which only its own limits bound. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs?: number;
}

/** What `tools/call` answers instead of the tool's result. */
export type CreateTaskResult = Task & {
  readonly resultType: "task";
  /** Needed by the SDK, which treats it as a result of `tools/call`; `withoutContent` removes it. */
  readonly content: [];
  readonly [field: string]: unknown;
};
/** What `tasks/get` answers: includes the tool's result once there is one, even if it is an error. */
type DetailedTask = Task & { readonly result?: CallToolResult };

type ToolCall = RunningCall<CallToolResult>;

interface TaskFacts {
  readonly createdMs: number;
  lastUpdatedMs: number;
  /** Null while it is running. */
  result: CallToolResult | null;
}

/** Tool calls as tasks; the calls themselves are kept, and dropped, by `RunningCalls`. */
export class Tasks {
  readonly #now: () => number;
  readonly #facts = new WeakMap<ToolCall, TaskFacts>();

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Makes the call a task; repeating this returns the same task. */
  create(call: ToolCall): CreateTaskResult {
    if (!this.#facts.has(call)) {
      const facts: TaskFacts = {
        createdMs: Math.round(this.#now() - call.elapsedMs),
        lastUpdatedMs: this.#now(),
        result: null,
      };
      this.#facts.set(call, facts);
      void call.ended.then((result) => Object.assign(facts, { result, lastUpdatedMs: this.#now() }));
      call.onNews = () => (facts.lastUpdatedMs = this.#now());
    }
    const { result: _, ...task } = this.describe(call);
    return { resultType: "task", content: [], ...task };
  }

  /** Its state. */
  describe(call: ToolCall): DetailedTask {
    const facts = this.#facts.get(call);
    if (facts === undefined) throw new TypeError(`${call.id} is not a task.`);
    const { createdMs, lastUpdatedMs, result } = facts;
    const times = { createdAt: iso(createdMs), lastUpdatedAt: iso(lastUpdatedMs) };
    const taskId = call.id;
    if (result === null) {
      const statusMessage = call.isCancelled ? "It is being ended" : describeProgress(call);
      return { taskId, status: "working", statusMessage, ...times, ttlMs: null, pollIntervalMs };
    }
    const ttlMs = Math.round(lastUpdatedMs - createdMs + keptForMs);
    if (call.isCancelled && wasCancelled(result)) return { taskId, status: "cancelled", ...times, ttlMs };
    return { taskId, status: "completed", ...times, ttlMs, result: { ...result, resultType: "complete" } };
  }

  has(call: ToolCall): boolean {
    return this.#facts.has(call);
  }
}

/** The message; a task, which the SDK treats like any result of `tools/call`, has no `content`. */
export function withoutContent(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message) || message.result["resultType"] !== "task") return message;
  const { content: _, ...result } = message.result;
  return { ...message, result };
}

/** What is measured about requests, and by which clock. */
export type RequestTiming = Pick<Platform, "serverMetrics" | "tracing" | "monotonicMs">;

/** An MCP request. */
interface McpRequest {
  readonly method: string;
  /** The tool, if it is offered; null for other requests. */
  readonly tool: string | null;
  /** What came beside it. */
  readonly message: ServerContext["mcpReq"];
}

/**
 * Does the work, measures its duration and outcome, and traces it by OpenTelemetry's conventions for MCP. Uses the
 * `traceparent` in its `_meta` as the parent, and links to that of the HTTP request.
 */
export async function timedRequest<Result>(
  { serverMetrics, tracing, monotonicMs }: RequestTiming,
  { method, tool, message: { id, _meta: carrier } }: McpRequest,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const startedMs = monotonicMs();
  const span = tracing.begin({
    name: tool === null ? method : `${method} ${tool}`,
    kind: "server",
    attributes: {
      "mcp.method.name": method,
      "gen_ai.tool.name": tool ?? undefined,
      "jsonrpc.request.id": String(id),
    },
    carrier,
  });
  let errorType: string | null = "protocol_error";
  try {
    const result = await span.run(work);
    errorType = (result as { readonly isError?: boolean }).isError === true ? "tool_error" : null;
    return result;
  } catch (error) {
    if (error instanceof ProtocolError) errorType = String(error.code);
    throw error;
  } finally {
    span.end(errorType);
    serverMetrics.mcpRequestEnded({ method, tool, errorType, durationMs: monotonicMs() - startedMs });
  }
}

const maxIdCharacters = 200;
const byTaskId = z.looseObject({ taskId: z.string().max(maxIdCharacters) });

interface TaskMethods {
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

/**
 * The error for a `subscriptions/listen` that asks for the ends of tasks without declaring the extension, which the SDK
 * would accept without them; null for every other message.
 */
export function refuseTaskSubscription(message: unknown): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message) || message.method !== "subscriptions/listen") return null;
  const { notifications, _meta: meta } = (message.params ?? {}) as {
    readonly notifications?: { readonly taskIds?: unknown } | null;
    readonly _meta?: Readonly<Record<string, ClientCapabilities | undefined>>;
  };
  const capabilities = meta?.[CLIENT_CAPABILITIES_META_KEY];
  // Without capabilities it is of a revision that has no subscriptions.
  if (notifications?.taskIds === undefined || typeof capabilities !== "object") return null;
  if (capabilities.extensions?.[tasksExtension] !== undefined) return null;
  const { code, message: text, data } = notDeclared();
  return { jsonrpc: "2.0", id: message.id, error: { code, message: text, data } };
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Whether the work was really cancelled: it may have finished first. */
function wasCancelled({ structuredContent }: CallToolResult): boolean {
  const { outcome, error } = (structuredContent ?? {}) as {
    readonly outcome?: string;
    readonly error?: { readonly error_type?: string };
  };
  return outcome === "cancelled" || error?.error_type === "CANCELLED";
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
function notDeclared(): ProtocolError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } });
}
