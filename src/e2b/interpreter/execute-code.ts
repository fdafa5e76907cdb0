import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { kibibyte } from "../../base/bytes.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { textsByName } from "../../operations/contract/request/bounded-schemas.ts";
import { maxEnvironmentEntries } from "../../operations/contract/request/request-maxima.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { runCodeContract } from "../../operations/session/run-code-contract.ts";
import { globalVariables } from "../envd/global-variables.ts";
import { readJson } from "../http/exchange.ts";
import { E2bRefusal } from "../http/refusal.ts";
import { errorEvent, eventsOf, notesOf, outputEvent } from "./execution-events.ts";
import { ExecutionStream } from "./execution-stream.ts";
import { findContext } from "./contexts.ts";
import type { InterpreterRequest } from "./interpreter-request.ts";
import { bashContext, findLanguage, inInterpreter } from "./languages.ts";

const executeSchema = z.strictObject({
  code: z.string(),
  context_id: z.string().max(200).optional(),
  language: z.string().optional(),
  env_vars: textsByName(maxEnvironmentEntries).optional(),
});
/** What one answer may have on its way, until its results are known. */
const streamBytes = 256 * kibibyte;

/**
 * `POST /execute`: runs code in the sandbox's own interpreter, with the variables of the code before it, and streams what
 * it does. It ends when its client disconnects.
 * @throws E2bRefusal and what `run_code` throws, before the answer has begun
 */
export async function executeCode(call: InterpreterRequest): Promise<void> {
  const { context, exchange, sandbox } = call;
  const { platform, inFlight } = context;
  const { response, signal } = exchange;
  const { principal } = sandbox.caller;
  const asked = parseRequest({ request: executeSchema }, await readJson(exchange, inFlight, principal));
  const { code, context_id: named, language, env_vars: variables = {} } = asked;
  if (named !== undefined && language !== undefined) {
    throw new E2bRefusal(400, "body: expected context_id or language, got both");
  }
  const known = named === undefined ? null : await findContext(call, named);
  const found = known?.language ?? findLanguage(language);
  // A default one that is not there yet is made by its runtime.
  const own = known?.exists === true ? known.id : found === "bash" ? bashContext : null;
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
  try {
    const answer = await platform.call(runCodeContract, request, {
      ...{ principal, signal },
      onEvent: (event) =>
        event.type === "output" ? say(event.stream, decoders[event.stream].write(event.bytes)) : stream.begin(),
    });
    for (const name of ["stdout", "stderr"] as const) await say(name, decoders[name].end());
    const notes = notesOf(answer);
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

/** However many executions lose their clients one after another, the last notes are enough. */
function latest(notes: readonly string[], before: readonly string[]): readonly string[] {
  return notes.length > 0 ? notes : before;
}

function sizeOf(displays: readonly { readonly content: string }[] = []): number {
  return displays.reduce((sum, { content }) => sum + content.length, 0);
}
