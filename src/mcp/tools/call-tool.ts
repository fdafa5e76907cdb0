import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { settlesWithin } from "../../base/abort.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import type { OperationRow } from "../../operations/operation-row.ts";
import type { Platform } from "../../platform/platform.ts";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import { tellProgress } from "./progress-notices.ts";
import { protocolError, unknownTool } from "../protocol-errors.ts";
import type { RunningCall } from "../../calls/running-call.ts";
import type { RunningCalls } from "../../calls/running-calls.ts";
import { parseToolArguments, type ToolArguments } from "./tool-arguments.ts";
import { errorResult, runningResult, toolResult } from "./tool-result.ts";

/** What tool calls work with. */
export interface ToolContext {
  readonly platform: Platform;
  /** Rows that are tools. */
  readonly rows: readonly OperationRow[];
  readonly calls: RunningCalls<CallToolResult>;
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
  tools: ToolContext,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: unknown },
  { principal, connection, context }: CallOrigin & { readonly context: ServerContext },
): Promise<CallToolResult> {
  const row = tools.rows.find(({ operation }) => operation.name === name);
  if (row === undefined) {
    throw unknownTool(
      name,
      tools.rows.map(({ operation }) => operation.name),
    );
  }
  const asked = readArguments(row, given);
  let call: RunningCall<CallToolResult>;
  try {
    call =
      asked.type === "begin"
        ? begin(tools, row, asked.request, { principal, connection })
        : follow(tools, asked, principal);
  } catch (error) {
    return errorResult(toGloveboxError(error));
  }
  return answer(tools, row, call, context);
}

function readArguments(row: OperationRow, given: unknown): ToolArguments {
  try {
    return parseToolArguments(row, given);
  } catch (error) {
    throw protocolError(toGloveboxError(error));
  }
}

function begin(
  { platform, calls, texts }: ToolContext,
  row: OperationRow,
  request: Record<string, unknown>,
  { principal, connection }: CallOrigin,
): RunningCall<CallToolResult> {
  const { operation } = row;
  return calls.start({
    operation: operation.name,
    principal,
    monotonicMs: platform.monotonicMs,
    work: (call) => operation.run(platform, request, { ...call, principal, connection }),
    conclude: (end, call) => {
      if ("error" in end && end.error.errorType === "INTERNAL") {
        platform.logger.error({ err: end.error.cause ?? end.error }, "a tool call failed");
      }
      return toolResult(end, { row, call, texts });
    },
  });
}

function follow(
  { calls }: ToolContext,
  { runId, cancel }: ToolArguments & { type: "follow" },
  principal: string,
): RunningCall<CallToolResult> {
  const call = calls.find(runId, principal);
  if (cancel) call.cancel();
  return call;
}

async function answer(
  tools: ToolContext,
  row: OperationRow,
  call: RunningCall<CallToolResult>,
  context: ServerContext,
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const onAbort = (): void => call.cancel();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const endProgress = tellProgress(call, context);
  try {
    const waits = row.tool?.mayTakeLong === true;
    if (!waits || (await settlesWithin(call.ended, tools.answerWithinMs))) return await call.ended;
    tools.calls.keep(call);
    return runningResult(call);
  } finally {
    endProgress();
    signal.removeEventListener("abort", onAbort);
  }
}
