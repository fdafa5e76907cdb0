import type { E2bContext } from "../e2b-context.ts";
import { liveTarget } from "../envd/gateway.ts";
import type { Exchange } from "../http/exchange.ts";
import { answerOfError, E2bRefusal } from "../http/refusal.ts";
import { handleRoute, type E2bRoute } from "../http/routes.ts";
import type { E2bSandbox } from "../sandboxes/e2b-sandbox.ts";
import { contextRoutes } from "./contexts.ts";
import { executeCode } from "./execute-code.ts";
import type { InterpreterRequest } from "./interpreter-request.ts";

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
