import type { CallToolResult, JSONRPCMessage } from "@modelcontextprotocol/server";
import type { RunningCall } from "../calls/running-call.ts";
import { keptForMs } from "../calls/kept-calls.ts";
import { describeProgress } from "./tools/progress-notices.ts";

/** Name of the extension, in the capabilities of both sides. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** How often a client should poll; it is not notified in between. */
const pollIntervalMs = 2_000;

/** The fields of a task that both its creation and its state have, as the extension names them. */
export interface Task {
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
export type DetailedTask = Task & { readonly result?: CallToolResult };

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
