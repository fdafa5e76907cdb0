import type { z } from "zod";
import { mebibyte } from "../../base/bytes.ts";
import { assertBoundedJson } from "../../base/json-text.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import type { E2bContext } from "../e2b-context.ts";
import { readWhole, type Exchange } from "../exchange.ts";
import type { SandboxTarget } from "../e2b-sandbox.ts";
import { ConnectError } from "./connect-error.ts";
import { parseEnvelope } from "./envelope.ts";

/** A call of a method. */
export interface RpcCall {
  readonly context: E2bContext;
  readonly exchange: Exchange;
  readonly target: SandboxTarget;
}

/** A method with one answer, or with a stream of them. */
export type RpcMethod =
  | { readonly type: "unary"; readonly handle: (call: RpcCall, body: unknown) => Promise<object> | object }
  | { readonly type: "stream"; readonly handle: (call: RpcCall, body: unknown) => Promise<void> };

/** Largest message; input for programs is in them. */
const maxBytes = 8 * mebibyte;

/** The message of a request, as JSON. @throws ConnectError, CAPACITY */
export async function readMessage({ context, exchange, target }: RpcCall, type: RpcMethod["type"]): Promise<unknown> {
  const { headers } = exchange.request;
  const expected = type === "unary" ? "application/json" : "application/connect+json";
  const [given = ""] = (headers["content-type"] ?? "").split(";", 1);
  if (given.trim().toLowerCase() !== expected) {
    throw new ConnectError("unimplemented", `content-type: expected ${expected}, as E2B's SDKs send it`);
  }
  const encoding = headers[type === "unary" ? "content-encoding" : "connect-content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new ConnectError("unimplemented", "compressed messages are not served");
  const { principal } = target.sandbox.caller;
  const body = await readWhole(exchange, { inFlight: context.inFlight, principal, maxBytes });
  const message = type === "unary" ? body : parseEnvelope(body);
  if (message.length === 0) return {};
  assertBoundedJson(message);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(message)) as unknown;
  } catch {
    throw new ConnectError("invalid_argument", "body: expected JSON in UTF-8");
  }
}

/** A message in its checked form. @throws INVALID_REQUEST */
export function parseMessage<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  return parseRequest({ request: schema }, body);
}
