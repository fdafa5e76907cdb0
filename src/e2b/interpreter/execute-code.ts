import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { kibibyte } from "../../base/bytes.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { textsByName } from "../../operations/contract/request/bounded-schemas.ts";
import { maxEnvironmentEntries } from "../../operations/contract/request/request-maxima.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { interruptContextContract } from "../../operations/session/contexts-contract.ts";
import { runCodeContract } from "../../operations/session/run-code-contract.ts";
import { globalVariables } from "../envd/global-variables.ts";
import { readJson } from "../http/exchange.ts";
import { E2bRefusal } from "../http/refusal.ts";
import { errorEvent, eventsOf, notesOf, outputEvent } from "./execution-events.ts";
import { ExecutionStream } from "./execution-stream.ts";
import { findContext } from "./contexts.ts";
import type { InterpreterRequest } from "./interpreter-request.ts";
import { bashContext, findLanguage, inInterpreter, type InterpreterLanguage } from "./languages.ts";

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
export async function executeCode(call: InterpreterRequest): Promise<void> {
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
