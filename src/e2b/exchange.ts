import type { IncomingMessage, ServerResponse } from "node:http";
import { mebibyte } from "../base/bytes.ts";
import { readBody } from "../base/http/read-body.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { answerOfError, E2bRefusal } from "./refusal.ts";

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborts when the client disconnects before it has its answer. */
  readonly signal: AbortSignal;
}

/** Largest body of a request in JSON. */
const maxJsonBytes = mebibyte;

/**
 * The body as JSON, nulls in objects left out as the Python SDK means them; an empty body is an empty object.
 * @throws E2bRefusal 400 and 413, CAPACITY if the principal has too much on its way
 */
export async function readJson(
  { request, response }: Exchange,
  inFlight: BytesInFlight,
  principal: string,
): Promise<unknown> {
  const body = await readWhole({ request, response }, { inFlight, principal, maxBytes: maxJsonBytes });
  if (body.length === 0) return {};
  assertBoundedJson(body);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return JSON.parse(text, (_, value: unknown) => value ?? undefined) as unknown;
  } catch {
    throw new E2bRefusal(400, "body: expected JSON in UTF-8");
  }
}

/** The whole body, held until the answer has been sent. @throws E2bRefusal 400 and 413, CAPACITY */
export async function readWhole(
  { request, response }: Pick<Exchange, "request" | "response">,
  { inFlight, principal, maxBytes }: { inFlight: BytesInFlight; principal: string; maxBytes: number },
): Promise<Buffer> {
  const held = inFlight.hold(principal);
  response.once("close", () => held.release());
  let body: Buffer | null;
  try {
    body = await readBody(request, { maxBytes, onHold: (bytes) => held.set(bytes) });
  } catch (error) {
    throw request.errored === null ? error : new E2bRefusal(400, "body: it ended before its announced length");
  }
  if (body === null) throw new E2bRefusal(413, `body: expected at most ${maxBytes} bytes, got more`);
  return body;
}

/** Sends an answer in JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response
    .writeHead(status, { ...headers, "content-type": "application/json", "content-length": String(bytes.length) })
    .end(bytes);
}

/** Sends an answer without a body. */
export function sendNothing(response: ServerResponse, status = 204): void {
  response.writeHead(status).end();
}

/** Answers an error in E2B's form; one that comes in the middle of an answer ends its connection. */
export function sendError({ request, response }: Pick<Exchange, "request" | "response">, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body, headers } = answerOfError(error);
  // The rest of a body that is not read would be taken for the next request.
  sendJson(response, status, body, request.complete ? headers : { ...headers, connection: "close" });
}

/** One route; parts of its path in braces are parameters: `/sandboxes/{id}`. */
export interface E2bRoute<Context> {
  readonly method: string;
  readonly path: string;
  readonly handle: (context: Context, parameters: Readonly<Record<string, string>>) => Promise<void> | void;
}

/**
 * Handles a request by the first route that fits.
 * @throws E2bRefusal 404 for an unknown path, 405 for a method that the path does not have, 400 for a malformed path
 */
export async function handleRoute<Context>(
  routes: readonly E2bRoute<Context>[],
  { method, path }: { readonly method: string; readonly path: string },
  context: Context,
): Promise<void> {
  const fitting = routes.flatMap((route) => {
    const parameters = matchPath(route.path, path);
    return parameters === null ? [] : [{ route, parameters }];
  });
  const found = fitting.find(({ route }) => route.method === method);
  if (found !== undefined) return found.route.handle(context, found.parameters);
  if (fitting.length === 0) throw new E2bRefusal(404, `path: there is no ${path.slice(0, 200)} here`);
  const methods = [...new Set(fitting.map(({ route }) => route.method))].join(" or ");
  throw new E2bRefusal(405, `method: expected ${methods}, got ${method}`);
}

/** The parameters in a path; null: it does not fit. @throws E2bRefusal for a malformed percent-encoding */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split("/");
  const given = path.split("/");
  if (expected.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith("{")) parameters[part.slice(1, -1)] = value;
    else if (part !== value) return null;
  }
  try {
    return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new E2bRefusal(400, "path: malformed percent-encoding");
  }
}
