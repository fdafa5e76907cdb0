import type { ServerResponse } from "node:http";
import { settlesWithin } from "../base/abort.ts";
import { kibibyte } from "../base/bytes.ts";
import { untilWritable } from "../base/streams/until-writable.ts";
import { WireEncoder } from "../live/wire-encoder.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import type { WireEvent } from "../operations/contract/wire-messages.ts";
import { textOf, type WireAnswer } from "./server/wire-answer.ts";
import type { StreamFormat } from "./answer-form.ts";

/** A reader that takes nothing for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;
/** Maximum bytes buffered for a slow reader; beyond it, events that cannot be delayed are dropped. */
export const maxWaitingBytes: number = 256 * kibibyte;
/** How often a quiet stream sends a keep-alive, if its format has one. */
const aliveEachMs = 15_000;

const contentTypes: Readonly<Record<StreamFormat, string>> = {
  "event-stream": "text/event-stream; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** Streams the events of one run to one reader; a slow reader slows the program down. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #format: StreamFormat;
  readonly #encoder = new WireEncoder();
  readonly #alive: NodeJS.Timeout;
  #sandboxId: string | null = null;
  #leftOut = 0;

  /** Sends the headers, including those already set, and the sandbox if it is known. */
  constructor(
    response: ServerResponse,
    format: StreamFormat,
    known: { readonly id: string; readonly name: string | null } | null,
  ) {
    this.#response = response;
    this.#format = format;
    // For proxies that would buffer the events.
    response.writeHead(200, { "content-type": contentTypes[format], "x-accel-buffering": "no" });
    response.flushHeaders();
    this.#alive = setInterval(() => this.#showLife(), aliveEachMs).unref();
    response.once("close", () => clearInterval(this.#alive));
    if (known !== null) void this.send({ type: "sandbox", sandboxId: known.id, name: known.name ?? undefined });
  }

  /** Resolves when the reader can take more; output is never dropped. */
  async send(event: OperationEvent): Promise<void> {
    if (event.type === "sandbox") {
      // It may have been sent before the sandbox existed.
      if (this.#sandboxId === event.sandboxId) return;
      this.#sandboxId = event.sandboxId;
    } else if (event.type !== "output" && this.#response.writableLength > maxWaitingBytes) {
      this.#leftOut += 1;
      return;
    }
    for (const wire of this.#encoder.encode(event)) this.#write(JSON.stringify(wire), wire.event);
    if (event.type === "output") await this.#untilTaken();
  }

  /** The last event. */
  end(answer: WireAnswer): void {
    for (const wire of this.#encoder.flush()) this.#write(JSON.stringify(wire), wire.event);
    if (this.#leftOut > 0) {
      const message = `${this.#leftOut} events were dropped because the reader was too slow.`;
      this.#write(JSON.stringify({ event: "warning", message } satisfies WireEvent), "warning");
    }
    const name = answer.isError ? "error" : "result";
    this.#write(`{"event":"${name}","${name}":${textOf(answer)}}`, name);
    const stalled = setTimeout(() => this.#response.destroy(), stalledAfterMs).unref();
    this.#response.once("close", () => clearTimeout(stalled));
    this.#response.end();
  }

  #write(json: string, name: string): void {
    if (this.#response.destroyed) return;
    this.#response.write(this.#format === "ndjson" ? `${json}\n` : `event: ${name}\ndata: ${json}\n\n`);
  }

  async #untilTaken(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain) return;
    if (!(await settlesWithin(untilWritable(response), stalledAfterMs))) response.destroy();
  }

  #showLife(): void {
    if (this.#format === "event-stream" && this.#response.writableLength === 0) this.#response.write(": alive\n\n");
  }
}
