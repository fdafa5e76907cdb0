import type { IncomingMessage, ServerResponse } from "node:http";
import { bearerOf, judgeRequest, type GuardRefusal } from "../../base/http/judge-request.ts";
import { errorCatalogue } from "../../errors/catalogue.ts";
import { secretCheck } from "../../base/http/same-secret.ts";

export interface HttpGuardOptions {
  /** The token that a request must have; null: none. */
  readonly token: string | null;
  /** Origins of web pages that may call, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

/** Lets a request pass, or answers it. */
export type HttpGuard = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Headers that a page of an allowed origin may send and read. */
const forPages = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
  "access-control-max-age": "600",
};

/**
 * Guards a server on loopback, which the machine's other users and every web page in its browsers can reach too (SPEC
 * API2): requires a `Host` of this machine, no `Origin` except allowed ones, and the token, compared in constant time.
 */
export function createHttpGuard({ token, allowedOrigins }: HttpGuardOptions): HttpGuard {
  const rules = { loopbackOnly: true, allowedHosts: [], allowedOrigins };
  const isToken = token === null ? () => true : secretCheck(token);
  return (request, response) => {
    const refusal = judgeRequest(request, rules);
    if (refusal !== null) return refuse(response, refusal);
    const { origin } = request.headers;
    if (origin !== undefined) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
      response.setHeader("vary", "origin");
      // Browsers send a preflight request first, without the token.
      if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
        response.writeHead(204, forPages).end();
        return false;
      }
    }
    if (isToken(bearerOf(request.headers))) return true;
    response.setHeader("www-authenticate", 'Bearer realm="glovebox"');
    return refuse(response, noToken);
  };
}

const noToken: GuardRefusal = {
  status: 401,
  errorType: "PERMISSION_DENIED",
  message: "This server requires its user's token; none or a wrong one was sent.",
  suggestion:
    'Send the header "Authorization: Bearer TOKEN" with the token of the file that `glovebox mcp --http` names when it starts; docs/mcp.md shows how.',
};

function refuse(response: ServerResponse, { status, errorType, message, suggestion }: GuardRefusal): false {
  const data = { error_type: errorType, message, suggestion, context: {} };
  const body = {
    jsonrpc: "2.0",
    id: null,
    error: { code: errorCatalogue[errorType].jsonRpcCode, message: `${message} ${suggestion}`, data },
  };
  response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(body));
  return false;
}
