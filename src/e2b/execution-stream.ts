import type { ServerResponse } from "node:http";
import { untilWritable } from "../base/streams/chunks.ts";

/** One line of an execution's answer. */
export type ExecutionEvent = Readonly<{ type: string } & Record<string, unknown>>;

/** Time after which a sign of life goes where nothing else does; E2B's own. */
const keepaliveMs = 5_000;

/**
 * The answer to an execution: an event a line, in JSON, each sent at once. Until it has begun, which it does by itself
 * before a client takes it for lost, the request can still be refused with a status of its own.
 */
export class ExecutionStream {
  readonly #response: ServerResponse;
  readonly #first: ExecutionEvent;
  #keepalive: NodeJS.Timeout | undefined;
  #hasBegun = false;

  /** `first`: comes before every other event. */
  constructor(response: ServerResponse, first: ExecutionEvent) {
    this.#response = response;
    this.#first = first;
    response.once("close", () => clearTimeout(this.#keepalive));
    this.#keepaliveLater();
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends the head and the first event: from now on the client's own time for the execution counts. */
  async begin(): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, { "content-type": "application/x-ndjson" });
    await this.send(this.#first);
  }

  /** Resolves when the client takes more, or is gone. */
  async send(event: ExecutionEvent): Promise<void> {
    await this.begin();
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    this.#keepaliveLater();
    // Line ends inside of texts are escaped.
    if (!response.write(`${JSON.stringify(event)}\n`)) await untilWritable(response);
  }

  async end(): Promise<void> {
    await this.send({ type: "end_of_execution" });
    clearTimeout(this.#keepalive);
    if (!this.#response.destroyed) this.#response.end();
  }

  /** It gets no events: its request is refused otherwise, or its sandbox is gone. */
  stop(): void {
    clearTimeout(this.#keepalive);
  }

  #keepaliveLater(): void {
    clearTimeout(this.#keepalive);
    this.#keepalive = setTimeout(() => {
      // A client that does not read needs no sign of life.
      if (this.#response.writableNeedDrain) this.#keepaliveLater();
      else void this.send({ type: "keepalive" });
    }, keepaliveMs).unref();
  }
}
