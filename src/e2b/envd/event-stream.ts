import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ConnectError } from "./connect-error.ts";
import { envelope, lastEnvelope } from "./envelope.ts";

const defaultPingMs = 90_000;

/** An answer of many messages, each sent at once; a sign of life goes where nothing else does. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #pingMs: number;
  readonly #toMessage: (event: object) => object;
  #ping: NodeJS.Timeout | undefined;

  /** `pingSeconds`: what the client asks for; `toMessage`: how the method's message has an event. */
  constructor(
    response: ServerResponse,
    pingSeconds: unknown,
    toMessage: (event: object) => object = (event) => ({ event }),
  ) {
    this.#response = response;
    this.#toMessage = toMessage;
    const seconds = typeof pingSeconds === "string" && /^\d{1,4}$/.test(pingSeconds) ? Number(pingSeconds) : 0;
    this.#pingMs = seconds === 0 ? defaultPingMs : seconds * 1000;
    response.once("close", () => clearTimeout(this.#ping));
    response.writeHead(200, { "content-type": "application/connect+json" });
    response.flushHeaders();
    this.#pingLater();
  }

  /** Resolves when the client takes more, or is gone. */
  async send(event: object): Promise<void> {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    this.#pingLater();
    if (!response.write(envelope(this.#toMessage(event)))) {
      await Promise.race([once(response, "drain"), once(response, "close")]).catch(() => undefined);
    }
  }

  end(error: ConnectError | null): void {
    clearTimeout(this.#ping);
    if (!this.#response.destroyed) this.#response.end(lastEnvelope(error));
  }

  /** The sandbox is gone: the client is to ask for its health. */
  cut(): void {
    this.#response.destroy();
  }

  #pingLater(): void {
    clearTimeout(this.#ping);
    this.#ping = setTimeout(() => void this.send({ keepalive: {} }), this.#pingMs).unref();
  }
}
