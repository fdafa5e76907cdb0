import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";
import { failure, parseJsonRpc, type MessageFailure } from "../parse-json-rpc.ts";

/** A message, or the error to answer an invalid one with. */
export type ParsedMessage = { readonly message: JSONRPCMessage } | MessageFailure;

/** Parses one JSON-RPC message; errors are worded to help the client's developer. */
export function parseMessage(bytes: Uint8Array): ParsedMessage {
  const parsed = parseJsonRpc(bytes);
  if ("failure" in parsed) return parsed;
  const { value } = parsed;
  if (
    isJSONRPCRequest(value) ||
    isJSONRPCNotification(value) ||
    isJSONRPCResultResponse(value) ||
    isJSONRPCErrorResponse(value)
  )
    return { message: value };
  return refusal(value);
}

function refusal(value: unknown): ParsedMessage {
  const invalid = (id: RequestId | null, problem: string): ParsedMessage =>
    failure(id, ProtocolErrorCode.InvalidRequest, `Invalid request: ${problem}.`);
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
