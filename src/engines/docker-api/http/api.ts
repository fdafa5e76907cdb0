import type { IncomingMessage } from "node:http";
import { cancelled, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import { errorCode } from "../../../errors/error-code.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { EngineName } from "../../engine.ts";
import { consistentStatus, statusError } from "./api-error.ts";
import type { ApiAnswer, ApiRequest } from "./api-request.ts";
import { openConnection, type ApiConnection } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { unavailableError, type ConnectFailure, type Unavailability } from "./unavailability.ts";
import { upgradeToStream, type RawStream } from "./upgrade.ts";

export interface ApiOptions {
  readonly engine: EngineName;
  readonly title: string;
  /** Asked once; a failure is asked again at the next call. */
  readonly findEndpoint: () => Promise<Endpoint>;
  readonly explain: (failure: ConnectFailure) => Unavailability;
}

/** Statuses that the caller handles itself, beside 2xx and 304. */
export type Accepted = readonly number[] | "any";

/** A body that comes piece by piece; it must be read or broken off. */
export interface BodyStream {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * The calls of an engine's API with its failures translated.
 * All throw ENGINE_UNAVAILABLE when the engine does not answer and CANCELLED when the signal aborts.
 */
export class Api {
  readonly #options: ApiOptions;
  #connection: Promise<ApiConnection> | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Sends the request and reads the whole answer. `action` completes "failed to ...". */
  async call(action: string, request: ApiRequest, accepted: Accepted = []): Promise<ApiAnswer> {
    const { connection, response } = await this.#send(request);
    const body = await this.#read(connection, response, request.signal);
    return this.#checked(action, { status: response.statusCode ?? 0, body }, accepted);
  }

  /** The engine's answer about itself. @throws ENGINE_UNAVAILABLE also when what answers is no engine */
  async describe<T extends object>(path: string, signal: AbortSignal | undefined): Promise<T> {
    const { status, body } = await this.call("tell about itself", { method: "GET", path, signal }, "any");
    if (status === 200 && typeof body === "object" && body !== null) return body as T;
    const { endpoint } = await this.#connect(signal);
    throw this.#unavailable(endpoint, `HTTP_${status}`, new Error(`unexpected answer to ${path}`));
  }

  /** Sends the request and gives the body as it comes, or the answer of an accepted status; the signal breaks it off. */
  async stream(action: string, request: ApiRequest, accepted: Accepted = []): Promise<BodyStream | ApiAnswer> {
    const { connection, response } = await this.#send(request);
    const status = response.statusCode ?? 0;
    if (status < 300) return { chunks: this.#chunks(connection, response, request.signal) };
    const body = await this.#read(connection, response, request.signal);
    return this.#checked(action, { status, body }, accepted);
  }

  /** Opens a raw two-way stream; once it is open the signal has no further effect. */
  async open(action: string, request: ApiRequest, accepted: Accepted = []): Promise<RawStream | ApiAnswer> {
    const connection = await this.#connect(request.signal);
    let opened: RawStream | IncomingMessage;
    try {
      opened = await upgradeToStream(connection.upgrade(request), request);
    } catch (error) {
      throw this.#translate(connection.endpoint, error, request.signal);
    }
    if (!("statusCode" in opened)) return opened;
    const body = await this.#read(connection, opened, request.signal);
    return this.#checked(action, { status: opened.statusCode ?? 0, body }, accepted);
  }

  /** The error of an answer that its caller accepted and could not make sense of. */
  refusal(action: string, answer: ApiAnswer): GloveboxError {
    return statusError(this.#options, action, answer);
  }

  close(): void {
    this.#connection?.then(
      (connection) => connection.close(),
      () => {
        // Never opened, so there is nothing to close.
      },
    );
  }

  /** Node's error of a connection in the catalogue's terms. */
  #translate(endpoint: Endpoint, error: unknown, signal: AbortSignal | undefined): GloveboxError {
    if (signal?.aborted) return cancelled(error);
    if (error instanceof GloveboxError) return error;
    return this.#unavailable(endpoint, errorCode(error), error);
  }

  #unavailable({ origin, kind }: Endpoint, code: string, cause: unknown): GloveboxError {
    return unavailableError(this.#options.engine, this.#options.explain({ code, origin, kind }), cause);
  }

  async #send(request: ApiRequest): Promise<{ connection: ApiConnection; response: IncomingMessage }> {
    const connection = await this.#connect(request.signal);
    try {
      return { connection, response: await connection.send(request) };
    } catch (error) {
      throw this.#translate(connection.endpoint, error, request.signal);
    }
  }

  async *#chunks(
    { endpoint }: ApiConnection,
    response: IncomingMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of response) yield chunk as Buffer;
    } catch (error) {
      throw this.#translate(endpoint, error, signal);
    }
  }

  async #read(connection: ApiConnection, response: IncomingMessage, signal: AbortSignal | undefined): Promise<unknown> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#chunks(connection, response, signal)) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    if (text.trim() === "") return null;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // Proxies and old engines answer errors as plain text.
      return text;
    }
  }

  async #connect(signal: AbortSignal | undefined): Promise<ApiConnection> {
    throwIfCancelled(signal);
    if (this.#connection === undefined) {
      const opening = this.#open();
      this.#connection = opening;
      opening.catch(() => (this.#connection = undefined));
    }
    return untilCancelled(this.#connection, signal);
  }

  async #open(): Promise<ApiConnection> {
    const endpoint = await this.#options.findEndpoint();
    try {
      return await openConnection(endpoint);
    } catch (error) {
      throw this.#translate(endpoint, error, undefined);
    }
  }

  #checked(action: string, { status: told, body }: ApiAnswer, accepted: Accepted): ApiAnswer {
    const status = consistentStatus({ status: told, body });
    const answer = { status, body };
    if ((status >= 200 && status < 300) || status === 304 || accepted === "any" || accepted.includes(status)) {
      return answer;
    }
    throw this.refusal(action, answer);
  }
}
