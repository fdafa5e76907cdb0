import { liveTarget, type E2bContext, type InterpreterRequest } from "./e2b-request.ts";
import { readJson, sendJson, handleRoute, type Exchange, type E2bRoute } from "./exchange.ts";
import { answerOfError, E2bRefusal } from "./refusal.ts";
import { globalVariables, absoluteInside, homeFolder, type E2bSandbox } from "./e2b-sandbox.ts";
import { StringDecoder } from "node:string_decoder";
import { z, type ZodType } from "zod";
import { kibibyte } from "../base/bytes.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { maxEnvironmentEntries, chartMediaType, tableMediaType } from "../operations/contract/wire-values.ts";
import { textsByName } from "../operations/contract/request-schemas.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import {
  interruptContextContract,
  createContextContract,
  endContextContract,
  listContextsContract,
  restartContextContract,
  runCodeContract,
  type RunCodeResponse,
} from "../operations/session-contract.ts";
import {
  ExecutionStream,
  bashContext,
  findLanguage,
  inInterpreter,
  isBash,
  type ExecutionEvent,
  type InterpreterLanguage,
} from "./interpreter-execution.ts";
import { createId } from "../base/id.ts";
import { assertBoundedJson } from "../base/json-text.ts";

const maxCharts = 500;
const maxElements = 20_000;

/** Node has it; the types of JavaScript's latest edition do not yet. */
const exactJson = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

const label = z.string();
const shownText = label.nullable();
/** A place on an axis, or a number that JSON has none for. */
const value = z.union([z.number(), label, z.boolean(), z.null()]);
/** The same of points and ticks, whose numbers are floats: SDKs in Python tell `1.0` from `1`, which is all that a number is here. */
const float = value.transform((each) => (isWrittenWhole(each) ? exactJson.rawJSON(`${String(each)}.0`) : each));
const number = z.number().nullable();
const title = { title: shownText };
const axes = { x_label: shownText, x_unit: shownText, y_label: shownText, y_unit: shownText };
const series = z.strictObject({ label, points: z.array(z.tuple([float, float])) });
const scales = {
  ...{ x_ticks: z.array(float), x_tick_labels: z.array(label), x_scale: label },
  ...{ y_ticks: z.array(float), y_tick_labels: z.array(label), y_scale: label },
};
const lines = { ...title, ...axes, ...scales, elements: z.array(series) };
const box = z.strictObject({
  ...{ label, min: number, first_quartile: number, median: number, third_quartile: number, max: number },
  outliers: z.array(number),
});

/** Of one part of a figure. */
const chart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("line"), ...lines }),
  z.strictObject({ type: z.literal("scatter"), ...lines }),
  z.strictObject({
    ...{ type: z.literal("bar"), ...title, ...axes },
    elements: z.array(z.strictObject({ label, group: label, value })).max(maxElements),
  }),
  z.strictObject({
    ...{ type: z.literal("pie"), ...title },
    elements: z.array(z.strictObject({ label, angle: number, radius: number })).max(maxElements),
  }),
  z.strictObject({ type: z.literal("box_and_whisker"), ...title, ...axes, elements: z.array(box).max(maxElements) }),
  z.strictObject({ type: z.literal("unknown"), ...title, elements: z.tuple([]) }),
]);

/** A chart in E2B's form, which its SDKs read without looking: a program may say anything else in its place. */
const chartForm = z.union([
  chart,
  z.strictObject({ type: z.literal("superchart"), ...title, elements: z.array(chart).max(maxCharts) }),
]);

/** The columns of a table. */
const tableForm = z.record(z.string(), z.array(value));

/** Whether a number is written without a fraction and an exponent. */
function isWrittenWhole(each: unknown): boolean {
  return typeof each === "number" && Number.isInteger(each) && Math.abs(each) < 1e21;
}

type Display = NonNullable<RunCodeResponse["displays"]>[number];

/** E2B's names of the forms of a value, by media type. */
const formats: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "image/svg+xml": "svg",
  "image/png": "png",
  "image/jpeg": "jpeg",
  "text/latex": "latex",
};

/** The same of what they show in numbers, with the form that their readers count on. */
const numbers: Readonly<Record<string, readonly [name: string, form: ZodType]>> = {
  [chartMediaType]: ["chart", chartForm],
  [tableMediaType]: ["data", tableForm],
};

/** What a call that has ended tells, in E2B's form: what it showed, and the error that ended it. */
export function eventsOf(answer: RunCodeResponse): readonly ExecutionEvent[] {
  const error = errorOf(answer);
  return [...resultsOf(answer.displays ?? []), ...(error === null ? [] : [error])];
}

/** One result for each value that was shown. */
function resultsOf(displays: readonly Display[]): readonly ExecutionEvent[] {
  return [...Map.groupBy(displays, ({ value }) => value).values()].map((forms) => ({
    type: "result",
    is_main_result: forms.some(({ is_result: isResult }) => isResult),
    ...Object.fromEntries(forms.flatMap(formOf)),
    extra: {},
  }));
}

function formOf({ media_type: type, content }: Display): readonly (readonly [string, unknown])[] {
  if (type === "text/plain") return [["text", unquoted(content)]];
  if (type === "application/json") {
    const json = parseShownJson(content);
    return json === undefined ? [] : [["json", json]];
  }
  const [name, form] = numbers[type] ?? [];
  if (name !== undefined && form !== undefined) {
    const read = form.safeParse(parseShownJson(content));
    return read.success ? [[name, read.data]] : [];
  }
  const format = formats[type];
  return format === undefined ? [] : [[format, content]];
}

/** A text's own quotes are none of it: `'a'` is shown as `a`. */
function unquoted(text: string): string {
  return /^(?:'[^]*'|"[^]*")$/.test(text) ? text.slice(1, -1) : text;
}

/** JSON in a program's words; undefined: it is none, or has more values than are taken. */
export function parseShownJson(content: string): unknown {
  try {
    assertBoundedJson(Buffer.from(content));
    return JSON.parse(content) as unknown;
  } catch {
    return undefined;
  }
}

/** That variables or files are gone, which E2B's form has no field for. */
export function notesOf({ variables_lost: isLost = false, restarted, warnings }: RunCodeResponse): readonly string[] {
  return isLost || restarted ? warnings : [];
}

function errorOf(answer: RunCodeResponse): ExecutionEvent | null {
  const { outcome, exception, error, exit_code: exitCode, variables_lost: isLost = false } = answer;
  if (exception !== undefined) return { type: "error", ...exception };
  if (outcome === "completed") return null;
  if (outcome !== "failed") return errorEvent(error?.error_type ?? outcome, wordsOf(error));
  if (isLost) return errorEvent("UnexpectedEndOfExecution", `The interpreter ended with exit code ${exitCode}.`);
  return errorEvent("SystemExit", String(exitCode));
}

const wordsOf = (error: RunCodeResponse["error"]): string =>
  error === undefined ? "" : `${error.message} ${error.suggestion}`.trim();

/** An error that no traceback of the program's belongs to. */
function errorEvent(name: string, value: string): ExecutionEvent {
  return { type: "error", name, value, traceback: value === "" ? name : `${name}: ${value}` };
}

/**
 * What a program wrote.
 * @hostileText Exported for the test that feeds it.
 */
export function outputEvent(type: "stdout" | "stderr", text: string, nowMs: number): ExecutionEvent {
  return { type, text, timestamp: new Date(nowMs).toISOString() };
}

const createSchema = z.strictObject({ language: z.string().optional(), cwd: z.string().optional() });

/** A context, as clients see it. */
interface ShownContext {
  readonly id: string;
  readonly language: InterpreterLanguage;
  readonly cwd: string;
  /** Of a default one, whether a call has made it yet. */
  readonly exists: boolean;
}

/** Those that are there from the start, as far as clients see; a first call makes each. */
const defaultContexts: readonly ShownContext[] = [
  { id: "python", language: "python", cwd: homeFolder, exists: false },
  { id: "bun", language: "javascript", cwd: homeFolder, exists: false },
];

/** Contexts of a sandbox's code interpreter, each with variables of its own. */
const contextRoutes: readonly E2bRoute<InterpreterRequest>[] = [
  {
    method: "GET",
    path: "/contexts",
    handle: async (call) => sendJson(call.exchange.response, 200, (await contextsOf(call)).map(shownContext)),
  },
  { method: "POST", path: "/contexts", handle: createContext },
  {
    method: "POST",
    path: "/contexts/{id}/restart",
    handle: async (call, { id = "" }) => {
      await endIn(call, id, restartContextContract);
      sendJson(call.exchange.response, 200, {});
    },
  },
  {
    method: "DELETE",
    path: "/contexts/{id}",
    handle: async (call, { id = "" }) => {
      await endIn(call, id, endContextContract);
      sendJson(call.exchange.response, 200, {});
    },
  },
];

/** The context of that id. @throws E2bRefusal 404 */
async function findContext(call: InterpreterRequest, id: string): Promise<ShownContext> {
  const found = (await contextsOf(call)).find((each) => each.id === id);
  if (found === undefined) throw new E2bRefusal(404, `Context ${id.slice(0, 80)} not found`);
  return found;
}

async function contextsOf({ context, exchange, sandbox }: InterpreterRequest): Promise<readonly ShownContext[]> {
  const { principal } = sandbox.caller;
  const asked = { session_id: sandbox.sessionId };
  const { signal } = exchange;
  const { contexts } = await context.platform.call(listContextsContract, asked, { principal, signal });
  const made = contexts.map(({ context: id, language, cwd }) => ({
    ...{ id, cwd, exists: true },
    language: isBash(id) ? ("bash" as const) : language,
  }));
  // JavaScript runs in that of Node where the image has no Bun.
  const isMade = (id: string): boolean => made.some((each) => each.id === id || (id === "bun" && each.id === "node"));
  return [...defaultContexts.filter(({ id }) => !isMade(id)), ...made];
}

async function createContext({ context, exchange, sandbox }: InterpreterRequest): Promise<void> {
  const { principal } = sandbox.caller;
  const body = await readJson(exchange, context.inFlight, principal);
  const { language, cwd = homeFolder } = parseRequest({ request: createSchema }, body);
  const found = findLanguage(language);
  const id = found === "bash" ? createId(bashContext) : createId("c").replace("-", "");
  const asked = {
    session_id: sandbox.sessionId,
    context: id,
    language: inInterpreter(found, "").language,
    cwd: absoluteInside(cwd),
  };
  const { signal } = exchange;
  const made = await context.platform.call(createContextContract, asked, { principal, signal });
  sendJson(exchange.response, 200, { id, language: found, cwd: made.cwd });
}

/** Ends its interpreter and counts its executions anew. */
async function endIn(
  call: InterpreterRequest,
  id: string,
  contract: typeof restartContextContract | typeof endContextContract,
): Promise<void> {
  const { context, exchange, sandbox } = call;
  const { principal } = sandbox.caller;
  const { exists } = await findContext(call, id);
  const asked = { session_id: sandbox.sessionId, context: id };
  if (exists) await context.platform.call(contract, asked, { principal, signal: exchange.signal });
  context.executions.forget(sandbox, id);
}

function shownContext({ id, language, cwd }: ShownContext): object {
  return { id, language, cwd };
}

const executeSchema = z.strictObject({
  code: z.string(),
  context_id: z.string().max(200).optional(),
  language: z.string().optional(),
  env_vars: textsByName(maxEnvironmentEntries).optional(),
});
/** What one answer may have on its way, until its results are known. */
const streamBytes = 256 * kibibyte;
/** How often code whose client is gone is interrupted, and how long it is waited each time, before it is ended by force. */
const interrupts = { count: 5, eachMs: 1_000 };
const shellGone =
  "It was interrupted, because its client disconnected: the shell has ended, and its variables are gone.";

/**
 * `POST /execute`: runs code in the sandbox's own interpreter, with the variables of the code before it, and streams what
 * it does. It is interrupted when its client disconnects.
 * @throws E2bRefusal and what `run_code` throws, before the answer has begun
 */
async function executeCode(call: InterpreterRequest): Promise<void> {
  const { context, exchange, sandbox } = call;
  const { platform, inFlight } = context;
  const { response, signal } = exchange;
  const { principal } = sandbox.caller;
  const { code, variables, found, own } = await readExecution(call);
  const held = inFlight.hold(principal, streamBytes);
  response.once("close", () => held.release());
  const record = context.executions.of(sandbox, own ?? (found === "python" ? found : "bun"));
  record.count += 1;
  const stream = new ExecutionStream(response, { type: "number_of_executions", execution_count: record.count });
  const say = async (name: "stdout" | "stderr", text: string): Promise<void> => {
    if (text !== "") await stream.send(outputEvent(name, text, platform.now()));
  };
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  const request = {
    session_id: sandbox.sessionId,
    ...(own === null ? {} : { context: own }),
    ...inInterpreter(found, code),
    environment: { ...globalVariables(sandbox), ...variables },
    // The client's own time counts: it disconnects.
    timeout_seconds: platform.config.ceilings.timeoutMs / 1000,
  };
  using follow = followClient(call, own === null ? (found === "python" ? [found] : ["bun", "node"]) : [own]);
  try {
    const answer = await platform.call(runCodeContract, request, {
      ...{ principal, signal: follow.ending },
      onEvent: (event) => {
        if (event.type === "output") return say(event.stream, decoders[event.stream].write(event.bytes));
        if (event.type === "sandbox") follow.hasItsTurn = true;
        return stream.begin();
      },
    });
    for (const name of ["stdout", "stderr"] as const) await say(name, decoders[name].end());
    const notes = signal.aborted && found === "bash" ? [shellGone] : notesOf(answer);
    const before = record.untold;
    record.untold = signal.aborted ? latest(notes, before) : [];
    if (sandbox.ended.aborted) return void response.destroy();
    held.set(streamBytes + sizeOf(answer.displays));
    for (const note of before) await say("stderr", `glovebox: The execution before this one: ${note}\n`);
    for (const note of notes) await say("stderr", `glovebox: ${note}\n`);
    for (const event of eventsOf(answer)) await stream.send(event);
    await stream.end();
  } catch (error) {
    stream.stop();
    if (!stream.hasBegun) throw error;
    // Its client is to ask for its health.
    if (sandbox.ended.aborted) return void response.destroy();
    const { errorType, message, suggestion } = toGloveboxError(error);
    await stream.send(errorEvent(errorType, `${message} ${suggestion}`.trim()));
    await stream.end();
  }
}

/** What is to run, and where; `own`: the name of its context, null for the default one of its language. */
async function readExecution(call: InterpreterRequest): Promise<{
  readonly code: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly found: InterpreterLanguage;
  readonly own: string | null;
}> {
  const { context, exchange, sandbox } = call;
  const body = await readJson(exchange, context.inFlight, sandbox.caller.principal);
  const {
    code,
    context_id: named,
    language,
    env_vars: variables = {},
  } = parseRequest({ request: executeSchema }, body);
  if (named !== undefined && language !== undefined) {
    throw new E2bRefusal(400, "body: expected context_id or language, got both");
  }
  const known = named === undefined ? null : await findContext(call, named);
  const found = known?.language ?? findLanguage(language);
  // A default one that is not there yet is made by its runtime.
  const own = known?.exists === true ? known.id : found === "bash" ? bashContext : null;
  return { code, variables, found, own };
}

/** An execution, and whether its client still waits for it. */
interface FollowedClient extends Disposable {
  /** Aborts when it is to end by force. */
  readonly ending: AbortSignal;
  /** Whether the code runs, or is about to; an interrupt would end that of another execution otherwise. */
  hasItsTurn: boolean;
}

/**
 * Interrupts code when its client disconnects, as Ctrl+C would, so that variables stay; by force it ends where it ignores
 * that, and before its turn. `contexts`: names of the context that it may run in.
 */
function followClient(call: InterpreterRequest, contexts: readonly string[]): FollowedClient {
  const { context, exchange, sandbox } = call;
  const { principal } = sandbox.caller;
  const { signal } = exchange;
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let left = interrupts.count;
  const interruptOne = async ([name = "", ...others]: readonly string[]): Promise<void> => {
    try {
      const asked = { session_id: sandbox.sessionId, context: name };
      await context.platform.call(interruptContextContract, asked, { principal });
    } catch {
      if (others.length > 0) await interruptOne(others);
      else ending.abort();
    }
  };
  const onGone = (): void => {
    left -= 1;
    if (!follow.hasItsTurn || left < 0) return ending.abort();
    void interruptOne(contexts);
    timer = setTimeout(onGone, interrupts.eachMs);
  };
  const follow: FollowedClient = {
    ending: ending.signal,
    hasItsTurn: false,
    [Symbol.dispose]: () => {
      signal.removeEventListener("abort", onGone);
      clearTimeout(timer);
    },
  };
  signal.addEventListener("abort", onGone, { once: true });
  if (signal.aborted) onGone();
  return follow;
}

/** However many executions lose their clients one after another, the last notes are enough. */
function latest(notes: readonly string[], before: readonly string[]): readonly string[] {
  return notes.length > 0 ? notes : before;
}

function sizeOf(displays: readonly { readonly content: string }[] = []): number {
  return displays.reduce((sum, { content }) => sum + content.length, 0);
}

const routes: readonly E2bRoute<InterpreterRequest>[] = [
  {
    method: "POST",
    path: "/execute",
    handle: (call) => executeCode(call),
  },
  ...contextRoutes,
];

/** Answers a request to the code interpreter of a sandbox, whose token is still to be checked. @throws only what is unexpected */
export async function serveInterpreter(context: E2bContext, exchange: Exchange, sandbox: E2bSandbox): Promise<void> {
  const { request, path } = exchange;
  if (!showsToken(context, exchange, sandbox)) {
    throw new E2bRefusal(
      401,
      "expected the sandbox's token in the header X-Access-Token; for contexts also E2B-Traffic-Access-Token, which create and connect answer",
    );
  }
  context.admit(exchange, sandbox.caller);
  await liveTarget(context, exchange, sandbox);
  try {
    if (!sandbox.template.keepsVariables) throw noInterpreter(sandbox);
    await handleRoute(routes, { method: request.method ?? "", path }, { context, exchange, sandbox });
  } catch (error) {
    sendRefusal(exchange, error);
  }
}

function showsToken({ sandboxes }: E2bContext, { request, path }: Exchange, sandbox: E2bSandbox): boolean {
  const { "x-access-token": token, "e2b-traffic-access-token": traffic } = request.headers;
  if (typeof token === "string") return sandboxes.isToken(sandbox, token);
  return path !== "/execute" && typeof traffic === "string" && sandboxes.isTrafficToken(sandbox, traffic);
}

function noInterpreter({ template }: E2bSandbox): E2bRefusal {
  return new E2bRefusal(
    404,
    `Template ${template.name} has no code interpreter: create the sandbox from code-interpreter-v1`,
  );
}

/** The interpreter's clients read a refusal as plain text, some of them its status line alone. */
function sendRefusal({ request, response }: Exchange, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, body, headers } = answerOfError(error);
  const text = String(body["message"]);
  const reason = text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
  response
    .writeHead(status, reason, {
      ...headers,
      "content-type": "text/plain; charset=utf-8",
      // The rest of a body that is not read would be taken for the next request.
      ...(request.complete ? {} : { connection: "close" }),
    })
    .end(text);
}
