import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";

/** A message, or the error to answer an invalid one with. */
export type ParsedMessage =
  | { readonly message: JSONRPCMessage }
  | { readonly failure: JSONRPCErrorResponse & { readonly id: RequestId } };

/** Parses one JSON-RPC message; errors are worded to help the client's developer. */
export function parseMessage(bytes: Uint8Array): ParsedMessage {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    return failure(null, ProtocolErrorCode.ParseError, `Parse error: expected one JSON object a line; ${reason}.`);
  }
  if (
    isJSONRPCRequest(value) ||
    isJSONRPCNotification(value) ||
    isJSONRPCResultResponse(value) ||
    isJSONRPCErrorResponse(value)
  )
    return { message: value };
  return refusal(value);
}

/** A JSON-RPC error response; `id` is null if the request's could not be read. */
export function failure(id: RequestId | null, code: number, message: string): ParsedMessage & { failure: unknown } {
  // The protocol's type omits null, which JSON-RPC requires if the id is unknown.
  return { failure: { jsonrpc: "2.0", id: id as RequestId, error: { code, message } } };
}

function refusal(value: unknown): ParsedMessage {
  const invalid = (id: RequestId | null, problem: string): ParsedMessage =>
    failure(id, ProtocolErrorCode.InvalidRequest, `Invalid request: ${problem}.`);
  if (Array.isArray(value)) return invalid(null, "MCP has no batches; send each message on a line of its own");
  if (typeof value !== "object" || value === null) return invalid(null, "expected a JSON object");
  const { jsonrpc, id, method, params } = value as Readonly<Record<string, unknown>>;
  const known = typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
  if (jsonrpc !== "2.0") return invalid(known, 'expected "jsonrpc": "2.0"');
  if (typeof method !== "string") return invalid(known, 'expected a "method" that is a string');
  if ("id" in value && known === null) return invalid(null, 'expected an "id" that is a string or an integer');
  if (params !== undefined && (typeof params !== "object" || params === null || Array.isArray(params)))
    return failure(known, ProtocolErrorCode.InvalidParams, 'Invalid params: expected "params" to be an object.');
  return invalid(known, "its members are not those of a JSON-RPC request");
}
