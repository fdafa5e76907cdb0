import {
  ProtocolErrorCode,
  ProtocolError,
  type JSONRPCErrorResponse,
  type RequestId,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { mebibyte } from "../base/bytes.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { errorCatalogue } from "../errors/catalogue.ts";
import { nearest } from "../base/nearest.ts";
import { profilesWith } from "./tools/tool-profiles.ts";

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

/** Maximum problems that one error names. */
const maxProblems = 20;

/** An unknown method (SPEC EV4). */
export function unknownMethod(method: string): ProtocolError {
  const name = JSON.stringify(method.slice(0, 80));
  const error = new GloveboxError("UNIMPLEMENTED", `Method not found: ${name} is not a method of this server.`, {
    suggestion: "List the tools with tools/list and call one with tools/call.",
    context: { method: method.slice(0, 80) },
  });
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, error.message, unimplementedData(error));
}

/** A tool that is not offered (SPEC EV4). */
export function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const meant = nearest(name, known);
  const others = profilesWith(name).filter((profile) => profile !== "all");
  const hint =
    others.length > 0 && !known.includes(name)
      ? `It is offered where the server is started with --tools ${others[0]}.`
      : meant === null
        ? `There are ${known.join(", ")}.`
        : `Did you mean ${meant}?`;
  const error = new GloveboxError("UNIMPLEMENTED", `Unknown tool: ${JSON.stringify(name.slice(0, 80))}. ${hint}`, {
    suggestion: "Use one of the tools that tools/list names.",
    context: { tool: name.slice(0, 80), tools: known },
  });
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, unimplementedData(error));
}

/**
 * The message, with the SDK's own errors rewritten: its bare answer to an unknown method gets the data of SPEC EV4, and
 * its list of schema problems becomes a sentence.
 */
export function inOwnWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message) || message.error.data !== undefined) return message;
  const { code, message: text } = message.error;
  if (code === errorCatalogue.UNIMPLEMENTED.jsonRpcCode) {
    const error = new GloveboxError("UNIMPLEMENTED", "This server does not serve the method in this revision of MCP.");
    return { ...message, error: { ...message.error, data: unimplementedData(error) } };
  }
  const problems = schemaProblems(text);
  if (problems === null) return message;
  const error = new GloveboxError("INVALID_REQUEST", `Invalid params: ${problems.join("; ")}.`);
  const { jsonRpcCode } = errorCatalogue.INVALID_REQUEST;
  return { ...message, error: { code: jsonRpcCode, message: error.message, data: error.toWire() } };
}

/** The problems in a message that is, or ends with, a schema's list of them. */
function schemaProblems(text: string): string[] | null {
  const list = /^(?:[^[\n]*: )?(\[[^]*\])$/.exec(text)?.[1];
  try {
    const issues = JSON.parse(list ?? "null") as
      | readonly { readonly path: unknown[]; readonly message: string }[]
      | null;
    if (issues === null) return null;
    const named = issues
      .slice(0, maxProblems)
      .map(({ path, message }) => `${path.join(".").slice(0, 200)}: ${message}`);
    return issues.length > named.length ? [...named, `and ${issues.length - named.length} more`] : named;
  } catch {
    return null;
  }
}

function unimplementedData(error: GloveboxError): object {
  return { code: "Unimplemented", ...error.toWire() };
}
