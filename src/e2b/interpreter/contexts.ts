import { z } from "zod";
import { createId } from "../../base/id.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import {
  createContextContract,
  endContextContract,
  listContextsContract,
  restartContextContract,
  type ContextRow,
} from "../../operations/session/contexts-contract.ts";
import { absoluteInside, homeFolder } from "../envd/files/inside-path.ts";
import { readJson, sendJson } from "../http/exchange.ts";
import { E2bRefusal } from "../http/refusal.ts";
import type { E2bRoute } from "../http/routes.ts";
import { findLanguage } from "./languages.ts";
import type { InterpreterRequest } from "./interpreter-request.ts";

const createSchema = z.strictObject({ language: z.string().optional(), cwd: z.string().optional() });

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
export async function findContext(call: InterpreterRequest, id: string): Promise<ContextRow> {
  const found = (await contextsOf(call)).find(({ context }) => context === id);
  if (found === undefined) throw new E2bRefusal(404, `Context ${id.slice(0, 80)} not found`);
  return found;
}

async function contextsOf({ context, exchange, sandbox }: InterpreterRequest): Promise<readonly ContextRow[]> {
  const { principal } = sandbox.caller;
  const asked = { session_id: sandbox.sessionId };
  const { signal } = exchange;
  return (await context.platform.call(listContextsContract, asked, { principal, signal })).contexts;
}

async function createContext({ context, exchange, sandbox }: InterpreterRequest): Promise<void> {
  const { principal } = sandbox.caller;
  const body = await readJson(exchange, context.inFlight, principal);
  const { language, cwd = homeFolder } = parseRequest({ request: createSchema }, body);
  const asked = {
    session_id: sandbox.sessionId,
    context: createId("c").replace("-", ""),
    language: findLanguage(language),
    cwd: absoluteInside(cwd),
  };
  const { signal } = exchange;
  const row = await context.platform.call(createContextContract, asked, { principal, signal });
  sendJson(exchange.response, 200, shownContext(row));
}

/** Ends its interpreter and counts its executions anew. */
async function endIn(
  call: InterpreterRequest,
  id: string,
  contract: typeof restartContextContract | typeof endContextContract,
): Promise<void> {
  const { context, exchange, sandbox } = call;
  const { principal } = sandbox.caller;
  const row = await findContext(call, id);
  const asked = { session_id: sandbox.sessionId, context: row.context };
  await context.platform.call(contract, asked, { principal, signal: exchange.signal });
  context.executions.forget(sandbox, row.context);
}

function shownContext({ context: id, language, cwd }: ContextRow): object {
  return { id, language, cwd };
}
