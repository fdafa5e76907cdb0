import { z } from "zod";
import { createId } from "../../base/id.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import {
  createContextContract,
  endContextContract,
  listContextsContract,
  restartContextContract,
} from "../../operations/session/contexts-contract.ts";
import { absoluteInside, homeFolder } from "../envd/files/inside-path.ts";
import { readJson, sendJson } from "../http/exchange.ts";
import { E2bRefusal } from "../http/refusal.ts";
import type { E2bRoute } from "../http/routes.ts";
import { bashContext, findLanguage, inInterpreter, isBash, type InterpreterLanguage } from "./languages.ts";
import type { InterpreterRequest } from "./interpreter-request.ts";

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
export const contextRoutes: readonly E2bRoute<InterpreterRequest>[] = [
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
export async function findContext(call: InterpreterRequest, id: string): Promise<ShownContext> {
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
