import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createId } from "../base/id.ts";
import { lastCallsMs, type McpDoor } from "./mcp-door.ts";
import {
  isJSONRPCRequest,
  ProtocolErrorCode,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { settlesWithin } from "../base/abort.ts";
import { formatBytes, mebibyte } from "../base/bytes.ts";
import { untilWritable } from "../base/streams/chunks.ts";
import { refuseTaskSubscription } from "./tasks.ts";
import { failure, maxMessageBytes, parseJsonRpc, type MessageFailure } from "./json-rpc.ts";
import { LineReader, type Line } from "../base/streams/line-reader.ts";

export interface StdioOptions {
  readonly input: Readable;
  /** Carries only the protocol. */
  readonly output: Writable;
  /** Whose machine it is. */
  readonly principal: string;
  /** Ends the service, like the end of the input. */
  readonly signal: AbortSignal;
}

/**
 * Serves one client until it hangs up or the signal aborts; then the work is ended and outstanding answers are written.
 */
export async function serveOverStdio(door: McpDoor, { input, output, principal, signal }: StdioOptions): Promise<void> {
  const { logger } = door.platform;
  const transport = new StdioTransport({
    input,
    output,
    onInputEnd: () => void door.endCalls(),
    lastAnswersMs: lastCallsMs,
  });
  const connection = createId("con");
  const handle = serveStdio(() => door.createServer(principal, connection), {
    transport,
    onerror: (error) => logger.debug({ err: error }, "mcp"),
  });
  const onAbort = (): void => void transport.finish();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  await transport.closed;
  signal.removeEventListener("abort", onAbort);
  await handle.close();
}

/** A message, or the error to answer an invalid one with. */
type ParsedMessage = { readonly message: JSONRPCMessage } | MessageFailure;

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

/** Spaces, tabs and carriage returns only. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** Maximum bytes of answers that wait for the client while more messages are read. */
const maxUnreadBytes = mebibyte;

interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Called when no more input is read, before the connection closes: ends the work whose answers are outstanding. */
  readonly onInputEnd: () => void;
  /** How long to wait for outstanding answers after the end of the input. */
  readonly lastAnswersMs: number;
}

/**
 * One JSON-RPC message per line over two streams.
 *
 * The SDK's own transport closes the connection on a long message and does not answer one that cannot be parsed.
 */
class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  readonly #lines = new LineReader(maxMessageBytes);
  /** Ids of requests that have no answer yet. */
  readonly #owed = new Set<RequestId>();
  readonly #answered = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #ended = false;
  #isClosed = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** Resolves when the connection is closed, by either side. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async start(): Promise<void> {
    const { input, output } = this.#options;
    input.on("data", (chunk: Uint8Array) => {
      if (this.#ended) return;
      this.#take(this.#lines.push(chunk));
      // A client that reads no answers is not read either.
      if (output.writableLength > maxUnreadBytes) void this.#waitForReader();
    });
    for (const event of ["end", "close", "error"] as const) input.on(event, () => void this.finish());
    output.on("error", () => void this.close());
    if (input.readableEnded || input.destroyed) setImmediate(() => void this.finish());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { output } = this.#options;
    if (!this.#isClosed && !output.destroyed) {
      const wantsMore = output.write(`${JSON.stringify(message)}\n`);
      if (!wantsMore) await untilWritable(output);
    }
    if (!("method" in message)) this.#settle(message.id);
  }

  /** Stops reading, ends the work, waits for outstanding answers to be written, and closes. */
  async finish(): Promise<void> {
    if (this.#ended) return;
    this.#take(this.#lines.end());
    this.#ended = true;
    this.#options.input.pause();
    this.#options.onInputEnd();
    this.#settle(undefined);
    await settlesWithin(this.#answered.promise, this.#options.lastAnswersMs);
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.input.pause();
    this.#closed.resolve();
    this.onclose?.();
  }

  async #waitForReader(): Promise<void> {
    const { input, output } = this.#options;
    input.pause();
    await untilWritable(output);
    if (!this.#ended) input.resume();
  }

  /** Empty lines are skipped. */
  #take(lines: readonly Line[]): void {
    for (const { bytes, length, isTooLong } of lines) {
      if (!isTooLong) {
        if (!isBlank(bytes)) this.#receive(bytes);
      } else {
        const most = formatBytes(maxMessageBytes);
        const text = `Invalid request: a message may have at most ${most}, this one had ${formatBytes(length)}.`;
        this.#refuse(failure(null, ProtocolErrorCode.InvalidRequest, text));
      }
    }
  }

  #receive(bytes: Uint8Array): void {
    const parsed = parseMessage(bytes);
    if ("failure" in parsed) return this.#refuse(parsed);
    const { message } = parsed;
    const refused = refuseTaskSubscription(message);
    if (refused !== null) return this.#refuse({ failure: refused });
    if (isJSONRPCRequest(message)) {
      if (this.#owed.has(message.id)) {
        const text = `Invalid request: the id ${JSON.stringify(message.id)} belongs to a request that is still being answered.`;
        return this.#refuse(failure(message.id, ProtocolErrorCode.InvalidRequest, text));
      }
      this.#owed.add(message.id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      // A cancelled request gets no answer.
      this.#settle(message.params?.["requestId"] as RequestId | undefined);
    }
    this.onmessage?.(message);
  }

  #refuse({ failure: response }: { readonly failure: unknown }): void {
    const { output } = this.#options;
    if (!this.#isClosed && !output.destroyed) output.write(`${JSON.stringify(response)}\n`);
  }

  #settle(id: RequestId | undefined): void {
    if (id !== undefined) this.#owed.delete(id);
    if (this.#ended && this.#owed.size === 0) this.#answered.resolve();
  }
}
