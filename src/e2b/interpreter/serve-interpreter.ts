import type { E2bContext } from "../e2b-context.ts";
import { liveTarget } from "../envd/gateway.ts";
import type { Exchange } from "../http/exchange.ts";
import { answerOfError, E2bRefusal } from "../http/refusal.ts";
import { handleRoute, type E2bRoute } from "../http/routes.ts";
import type { E2bSandbox } from "../sandboxes/e2b-sandbox.ts";
import { executeCode } from "./execute-code.ts";

interface InterpreterRequest {
  readonly context: E2bContext;
  readonly exchange: Exchange;
  readonly sandbox: E2bSandbox;
}

const routes: readonly E2bRoute<InterpreterRequest>[] = [
  {
    method: "POST",
    path: "/execute",
    handle: ({ context, exchange, sandbox }) => executeCode(context, exchange, sandbox),
  },
];

/** Answers a request to the code interpreter of a sandbox, whose token is still to be checked. @throws only what is unexpected */
export async function serveInterpreter(context: E2bContext, exchange: Exchange, sandbox: E2bSandbox): Promise<void> {
  const { request, path } = exchange;
  const { "x-access-token": token } = request.headers;
  if (typeof token !== "string" || !context.sandboxes.isToken(sandbox, token)) {
    throw new E2bRefusal(401, "expected the sandbox's token in the header X-Access-Token");
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
