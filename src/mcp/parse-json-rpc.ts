import { ProtocolErrorCode, type JSONRPCErrorResponse, type RequestId } from "@modelcontextprotocol/server";
import { mebibyte } from "../base/bytes.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** Maximum bytes of a message: the largest file, 10 MiB, has 14 MiB as base64. */
export const maxMessageBytes: number = 16 * mebibyte;

/** A JSON-RPC error for a message. */
export interface MessageFailure {
  readonly failure: JSONRPCErrorResponse & { readonly id: RequestId };
}

/**
 * The value of one message; it may not be JSON-RPC. Its values are counted before any of it is built. A batch is refused:
 * MCP has had none since 2025-06-18, and its calls would count as one.
 */
export function parseJsonRpc(bytes: Uint8Array): { readonly value: unknown } | MessageFailure {
  try {
    assertBoundedJson(bytes);
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (!Array.isArray(value)) return { value };
    return failure(
      null,
      ProtocolErrorCode.InvalidRequest,
      "Invalid request: MCP has no batches; send each message by itself.",
    );
  } catch (error) {
    if (error instanceof GloveboxError) {
      return failure(null, ProtocolErrorCode.InvalidRequest, `Invalid request: ${error.message}`, error.toWire());
    }
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    return failure(null, ProtocolErrorCode.ParseError, `Parse error: expected one JSON object; ${reason}.`);
  }
}

/** A JSON-RPC error response; `id` is null if the request's could not be read. */
export function failure(id: RequestId | null, code: number, message: string, data?: object): MessageFailure {
  // The protocol's type omits null, which JSON-RPC requires if the id is unknown.
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return { failure: { jsonrpc: "2.0", id: id as RequestId, error } };
}
