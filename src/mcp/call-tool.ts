import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { settlesWithin } from "../base/abort.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import type { OperationRow } from "../operations/operation-row.ts";
import type { Platform } from "../platform/platform.ts";
import type { KeptTexts } from "./kept-texts.ts";
import { tellProgress } from "./progress-notices.ts";
import { protocolError, unknownTool } from "./protocol-errors.ts";
import type { RunningCall } from "./running-call.ts";
import type { RunningCalls } from "./running-calls.ts";
import { parseToolArguments, type ToolArguments } from "./tool-arguments.ts";
import { errorResult, runningResult, toolResult } from "./tool-result.ts";

/** What tool calls work with. */
export interface ToolDesk {
  readonly platform: Platform;
  /** Rows that are tools. */
  readonly rows: readonly OperationRow[];
  readonly calls: RunningCalls;
  readonly texts: KeptTexts;
  /** A call that takes longer is answered with its id, and goes on. */
  readonly answerWithinMs: number;
}

/** Whose a call is, and over which connection it came. */
export interface CallOrigin {
  readonly principal: string;
  /** Undefined for single requests. */
  readonly connection: string | undefined;
}

/**
 * Does what a tool call asks for, or answers in time that it goes on. Giving the request up ends the work, also where it
 * only asked again.
 * @throws ProtocolError for an unknown tool and for arguments that do not fit
 */
export async function callTool(
  desk: ToolDesk,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: unknown },
  { principal, connection, context }: CallOrigin & { readonly context: ServerContext },
): Promise<CallToolResult> {
  const row = desk.rows.find(({ operation }) => operation.name === name);
  if (row === undefined) {
    throw unknownTool(
      name,
      desk.rows.map(({ operation }) => operation.name),
    );
  }
  const asked = readArguments(row, given);
  let call: RunningCall;
  try {
    call =
      asked.type === "begin"
        ? begin(desk, row, asked.request, { principal, connection })
        : follow(desk, asked, principal);
  } catch (error) {
    return errorResult(toGloveboxError(error));
  }
  return answer(desk, call, context);
}

function readArguments(row: OperationRow, given: unknown): ToolArguments {
  try {
    return parseToolArguments(row, given);
  } catch (error) {
    throw protocolError(toGloveboxError(error));
  }
}

function begin(
  { platform, calls, texts }: ToolDesk,
  row: OperationRow,
  request: Record<string, unknown>,
  { principal, connection }: CallOrigin,
): RunningCall {
  const conclude = (end: Parameters<typeof toolResult>[0], call: RunningCall): CallToolResult =>
    toolResult(end, call, texts);
  return calls.start({ row, request, principal, connection, platform, conclude });
}

function follow(
  { calls }: ToolDesk,
  { runId, cancel }: ToolArguments & { type: "follow" },
  principal: string,
): RunningCall {
  const call = calls.find(runId, principal);
  if (cancel) call.cancel();
  return call;
}

async function answer(desk: ToolDesk, call: RunningCall, context: ServerContext): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const onAbort = (): void => call.cancel();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const endProgress = tellProgress(call, context);
  try {
    const waits = call.row.tool?.mayTakeLong === true;
    if (!waits || (await settlesWithin(call.ended, desk.answerWithinMs))) return await call.ended;
    desk.calls.keep(call);
    return runningResult(call);
  } finally {
    endProgress();
    signal.removeEventListener("abort", onAbort);
  }
}
