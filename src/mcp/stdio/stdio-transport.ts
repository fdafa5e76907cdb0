import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { isJSONRPCRequest, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { settlesWithin } from "../../base/abort.ts";
import { formatBytes, mebibyte } from "../../base/bytes.ts";
import { untilWritable } from "../../base/streams/until-writable.ts";
import { MessageFraming, type Frame } from "./message-framing.ts";
import { refuseTaskSubscription } from "../tasks/task-subscription.ts";
import { failure, maxMessageBytes } from "../parse-json-rpc.ts";
import { parseMessage } from "./parse-message.ts";

/** Maximum bytes of answers that wait for the client while more messages are read. */
const maxUnreadBytes = mebibyte;

export interface StdioTransportOptions {
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
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  readonly #framing = new MessageFraming(maxMessageBytes);
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
      this.#take(this.#framing.push(chunk));
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
    this.#take(this.#framing.end());
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

  #take(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === "line") this.#receive(frame.bytes);
      else {
        const most = formatBytes(maxMessageBytes);
        const text = `Invalid request: a message may have at most ${most}, this one had ${formatBytes(frame.length)}.`;
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
