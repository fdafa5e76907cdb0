import { languageNamed } from "../../languages/language-table.ts";
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { settlesWithin } from "../../base/abort.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import type { RunningCall, RunningCalls } from "../../calls/running-calls.ts";
import { GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOperation } from "../../operations/contract/operation-contract.ts";
import type { Platform } from "../../platform/platform.ts";
import { unknownTool } from "../json-rpc.ts";
import { declaresTasks, type CreateTaskResult, type Tasks } from "../tasks.ts";
import type { OfferedTool } from "./tool-profiles.ts";
import { tellProgress } from "./progress-notices.ts";
import { viewArtifact, viewArtifactTool, errorResult, runningResult, toolResult } from "./tool-result.ts";
import { nearest } from "../../base/nearest.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { followUpSchema } from "./input-schema.ts";
import { jsonSchema, type JsonSchema } from "./json-schema.ts";
import type { Kit } from "../../base/kit.ts";

/** A call that takes longer becomes a task if its client supports tasks. */
const taskAfterMs = 5_000;

/** What tool calls need. */
export interface ToolContext extends Pick<Kit, "logger" | "monotonicMs"> {
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

/** Maximum notices per call, as programs can cause alerts. */
const maxNotices = 50;

/** Notifies the client of alerts for its principal's sandboxes during a call; the returned function stops that. */
function tellAlerts(
  alertBook: Pick<Platform["alertBook"], "listen">,
  principal: string,
  { mcpReq }: ServerContext,
): () => void {
  let told = 0;
  return alertBook.listen((alert, owner) => {
    if (owner !== principal || ++told > maxNotices) return;
    // The newest revision keeps it for a year and has no replacement.
    // oxlint-disable-next-line typescript/no-deprecated
    mcpReq.log(alert.state === "start" ? "warning" : "info", alert, "glovebox.alerts").catch(() => {
      // The client is gone; the code that serves it notices that itself.
    });
  });
}

/** What a tool call requests: new work, or the state of running work. */
type ToolArguments =
  | { readonly type: "begin"; readonly request: Record<string, unknown> }
  | { readonly type: "follow"; readonly runId: string; readonly cancel: boolean };

/** @throws INVALID_REQUEST naming every problem by field, and the correct form */
export function parseToolArguments(offered: OfferedTool, given: unknown): ToolArguments {
  const { cancel: asked, ...others } = withoutAbsent(offered, given);
  const isFollowUp = offered.tool.mayTakeLong && Object.hasOwn(others, "run_id");
  try {
    if (isFollowUp) {
      const { run_id: runId, cancel = false } = parseRequest(
        { request: followUpSchema },
        asked === undefined ? others : { ...others, cancel: asked },
      );
      return { type: "follow", runId, cancel };
    }
    // Without a run there is nothing to cancel.
    const isIdle = offered.tool.mayTakeLong && asked === false;
    const request = asked === undefined || isIdle ? others : { ...others, cancel: asked };
    return { type: "begin", request: parseRequest(offered, { ...offered.tool.defaults, ...request }) };
  } catch (error) {
    throw withForm(offered, toGloveboxError(error), isFollowUp);
  }
}

function withoutAbsent(offered: OfferedTool, given: unknown): Readonly<Record<string, unknown>> {
  return forgiveArguments(offered, given) as Readonly<Record<string, unknown>>;
}

/** The error with a correct example, so that a model can fix its call without requesting the tool list. */
function withForm(offered: OfferedTool, error: GloveboxError, isFollowUp: boolean): GloveboxError {
  if (error.errorType !== "INVALID_REQUEST") return error;
  const form = isFollowUp ? { run_id: "run-..." } : exampleOf(offered);
  const known = Object.keys(isFollowUp ? followUpSchema.shape : offered.request.shape);
  const problems = (error.context["problems"] ?? []) as readonly { readonly field: string; readonly message: string }[];
  const hints = problems
    .filter(({ message }) => message.startsWith("unknown field"))
    .map(({ field }) => hintFor(field, known));
  return new GloveboxError("INVALID_REQUEST", error.message, {
    suggestion: [...new Set(hints), `Call ${offered.name} again in this form: ${JSON.stringify(form)}.`].join(" "),
    context: error.context,
  });
}

function hintFor(field: string, known: readonly string[]): string {
  const meant = nearest(field, known);
  return meant === null ? `Its fields are ${known.join(", ")}.` : `For ${field.slice(0, 80)} write ${meant}.`;
}

/** A valid call of each tool, with the fields that most calls have. */
const examples: Readonly<Record<string, object>> = {
  execute_code: { language: "python", code: "print(6 * 7)" },
  run_code: { code: "console.log(6 * 7)", language: "typescript" },
  end_session: {},
  list_files: { path: "." },
  read_file: { path: "out.txt" },
  write_file: { path: "in.txt", content: "..." },
  edit_file: { path: "in.txt", old_text: "...", new_text: "..." },
  run_tests: { project_path: "project", test_command: "npm test" },
  run_agent: { group: "family-chat", prompt: "What is on today's list?" },
  start_preview: { project_path: "project", command: "npm run dev", port: 3000 },
  preview_status: { id: "the preview's container_id" },
  stop_preview: { id: "the preview's container_id" },
  create_environment: { image: "python:3.14", project_root: "project" },
  run_command: { env_id: "the env_id", command: ["npm", "test"] },
  list_environments: {},
  destroy_environment: { env_id: "the env_id" },
  start_process: { command: ["npm", "start"], ports: [3000] },
  list_processes: {},
  write_stdin: { process_id: "the process_id", text: "y\n" },
  stop_process: { process_id: "the process_id" },
  read_logs: { id: "the sandbox_id", tail: 100 },
  get_metrics: { sandbox_id: "the sandbox_id" },
  list_alerts: {},
};

/** A correct call of a tool, to show after a wrong one. */
export function exampleOf({ name, request }: Pick<OfferedTool, "name" | "request">): object {
  const { required = [] } = jsonSchema(request, "input");
  return examples[name] ?? Object.fromEntries(required.map((field) => [field, "..."] as const));
}

/** Fields with a name or a path, for which an empty string means nothing; content may well be empty. */
const namesSomething = /(^|_)(id|path|root|cwd|engine|image|runtime)$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The arguments in the contract's form, if what a model wrote can only mean one thing: null and an empty id, enum,
 * number or path for absent, "10" for a number, `py`, `js` and `ts`, one string for a list. Anything else that is wrong is left, to be rejected with its field's name.
 */
export function forgiveArguments({ request }: Pick<OfferedTool, "request">, given: unknown): unknown {
  return isFields(given) ? forgiveFields(jsonSchema(request, "input").properties ?? {}, given) : given;
}

function forgiveFields(properties: Readonly<Record<string, JsonSchema>>, given: Fields): Fields {
  const entries = Object.entries(given).flatMap(([field, value]): [string, unknown][] => {
    const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (value === null) return [];
    if (schema === undefined) return value === "" && namesSomething.test(field) ? [] : [[field, value]];
    if (value === "" && isAbsentWhenEmpty(field, schema)) return [];
    return [[field, forgiveValue(field, schema, value)]];
  });
  return Object.fromEntries(entries);
}

function isAbsentWhenEmpty(field: string, schema: JsonSchema): boolean {
  return isNumber(schema) || schema.enum !== undefined || (isText(schema) && namesSomething.test(field));
}

function forgiveValue(field: string, schema: JsonSchema, value: unknown): unknown {
  if (isFields(value)) return schema.properties === undefined ? value : forgiveFields(schema.properties, value);
  const list = listOf(schema);
  if (list !== undefined) return forgiveList(field, schema, { items: list, value });
  if (typeof value !== "string") return value;
  if (isNumber(schema) && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  if (field === "language") return languageNamed(value) ?? value;
  return value;
}

function forgiveList(
  field: string,
  schema: JsonSchema,
  { items, value }: { readonly items: JsonSchema; readonly value: unknown },
): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => (typeof item === "string" ? forgiveItem(field, items, item) : item));
  }
  const isOneOf = schema.anyOf?.some((each) => each.type === "string" && isWord(each, value)) ?? false;
  if (typeof value !== "string" || value === "" || isOneOf) return value;
  return [forgiveItem(field, items, value)];
}

function forgiveItem(field: string, items: JsonSchema, item: string): unknown {
  return isNumber(items) ? forgiveValue(field, items, item) : item;
}

/** Whether a string matches this alternative. */
function isWord({ const: word }: JsonSchema, value: unknown): boolean {
  return word === undefined || word === value;
}

const isNumber = ({ type }: JsonSchema): boolean => type === "number" || type === "integer";
const isText = ({ type }: JsonSchema): boolean => type === "string";

/** The schema of a list's items, if it is or may be a list. */
function listOf({ type, items, anyOf }: JsonSchema): JsonSchema | undefined {
  if (type === "array") return items ?? {};
  return anyOf?.map(listOf).find((each) => each !== undefined);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
