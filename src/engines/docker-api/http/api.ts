import type { IncomingMessage } from "node:http";
import { cancelled, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import { Deadline } from "../../../base/deadline.ts";
import { mebibyte } from "../../../base/bytes.ts";
import { errorCode } from "../../../errors/error-code.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { EngineName } from "../../engine.ts";
import { consistentStatus, statusError } from "./api-error.ts";
import type { ApiAnswer, ApiRequest } from "./api-request.ts";
import { openConnection, type ApiConnection } from "./open-connection.ts";
import type { Endpoint } from "./endpoint.ts";
import { unavailableError, type ConnectFailure, type Unavailability } from "./unavailability.ts";
import { SshError } from "./ssh-failure.ts";
import { upgradeToStream, type RawStream } from "./upgrade.ts";

export interface ApiOptions {
  readonly engine: EngineName;
  readonly title: string;
  /** Asked once; a failure is asked again at the next call. */
  readonly findEndpoint: () => Promise<Endpoint>;
  readonly explain: (failure: ConnectFailure) => Unavailability;
}

/** Statuses that the caller handles itself, in addition to 2xx and 304. */
export type Accepted = readonly number[] | "any";

/** How long a whole answer may take: a question's, and that of a call that moves files or ends programs. */
const answerMs = { question: 120_000, work: 600_000 };
/** How long an engine may take to agree to a raw stream. */
const openMs = 120_000;
/** Far more than engines answer; what lasts longer or is larger is read as a stream. */
const maxAnswerBytes = 64 * mebibyte;

/** A request with its deadline, the signal of its caller alone, and its connection; it ends when its answer has been read. */
interface Attempt extends Disposable {
  readonly connection: ApiConnection;
  readonly request: ApiRequest;
  readonly caller: AbortSignal | undefined;
}

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
    const isQuestion = request.method === "GET" || request.method === "HEAD";
    using attempt = await this.#attempt(request, answerMs[isQuestion ? "question" : "work"]);
    const response = await this.#send(attempt);
    return this.#checked(action, await this.#read(response, attempt), accepted);
  }

  /** The engine's answer about itself. @throws ENGINE_UNAVAILABLE also when what answers is not an engine */
  async describe<T extends object>(path: string, signal: AbortSignal | undefined): Promise<T> {
    const { status, body } = await this.call("tell about itself", { method: "GET", path, signal }, "any");
    if (status === 200 && typeof body === "object" && body !== null) return body as T;
    const { endpoint } = await this.#connect(signal);
    throw this.#unavailable(endpoint, `HTTP_${status}`, new Error(`unexpected answer to ${path}`));
  }

  /** Sends the request and gives the body as it comes, or the answer of an accepted status; the signal breaks it off. */
  async stream(action: string, request: ApiRequest, accepted: Accepted = []): Promise<BodyStream | ApiAnswer> {
    const attempt = await this.#attempt(request, null);
    const response = await this.#send(attempt);
    if ((response.statusCode ?? 0) < 300) return { chunks: this.#chunks(response, attempt) };
    return this.#checked(action, await this.#read(response, attempt), accepted);
  }

  /** Opens a raw two-way stream; once it is open the signal has no further effect. */
  async open(action: string, request: ApiRequest, accepted: Accepted = []): Promise<RawStream | ApiAnswer> {
    using attempt = await this.#attempt(request, openMs);
    let opened: RawStream | IncomingMessage;
    try {
      opened = await upgradeToStream(attempt.connection.upgrade(attempt.request), attempt.request);
    } catch (error) {
      throw this.#notReached(error, attempt);
    }
    if (!("statusCode" in opened)) return opened;
    return this.#checked(action, await this.#read(opened, attempt), accepted);
  }

  /** The error for an answer that its caller accepted but could not interpret. */
  refusal(action: string, answer: ApiAnswer): GloveboxError {
    return statusError(this.#options, action, answer);
  }

  close(): void {
    this.#connection?.then(
      (connection) => connection.close(),
      () => {
        // It was never found, so there is nothing to close.
      },
    );
  }

  /** Node's error of a connection in the catalogue's terms. */
  #translate(error: unknown, { caller, request, connection }: Attempt): GloveboxError {
    if (caller?.aborted) return cancelled(error);
    if (error instanceof GloveboxError) return error;
    return this.#unavailable(connection.endpoint, request.signal?.aborted ? "ETIMEDOUT" : errorCode(error), error);
  }

  #unavailable({ origin, kind }: Endpoint, code: string, cause: unknown): GloveboxError {
    const detail = cause instanceof SshError ? { detail: cause.message } : {};
    return unavailableError(this.#options.engine, this.#options.explain({ code, origin, kind, ...detail }), cause);
  }

  async #send(attempt: Attempt): Promise<IncomingMessage> {
    try {
      return await attempt.connection.send(attempt.request);
    } catch (error) {
      throw this.#notReached(error, attempt);
    }
  }

  /** The next call looks for the engine again: it may be somewhere else now. */
  #notReached(error: unknown, attempt: Attempt): GloveboxError {
    if (attempt.request.signal?.aborted !== true) this.#connection = undefined;
    return this.#translate(error, attempt);
  }

  async *#chunks(response: IncomingMessage, attempt: Attempt): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of response) yield chunk as Buffer;
    } catch (error) {
      throw this.#translate(error, attempt);
    }
  }

  async #read(response: IncomingMessage, attempt: Attempt): Promise<ApiAnswer> {
    const status = response.statusCode ?? 0;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of this.#chunks(response, attempt)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) throw this.#tooLong();
    }
    return { status, body: decoded(Buffer.concat(chunks).toString("utf8")) };
  }

  #tooLong(): GloveboxError {
    const { engine, title } = this.#options;
    return new GloveboxError("INTERNAL", `${title} answered with more than ${maxAnswerBytes / mebibyte} MB.`, {
      context: { engine },
    });
  }

  /** `withinMs` null: the answer may take as long as it takes. */
  async #attempt(request: ApiRequest, withinMs: number | null): Promise<Attempt> {
    const { signal: caller } = request;
    const connection = await this.#connect(caller);
    if (withinMs === null) return { connection, request, caller, [Symbol.dispose]: () => undefined };
    const late = new Deadline(withinMs);
    const signal = caller === undefined ? late.signal : AbortSignal.any([caller, late.signal]);
    return { connection, request: { ...request, signal }, caller, [Symbol.dispose]: () => late[Symbol.dispose]() };
  }

  async #connect(signal: AbortSignal | undefined): Promise<ApiConnection> {
    throwIfCancelled(signal);
    if (this.#connection === undefined) {
      const finding = this.#options.findEndpoint().then(openConnection);
      this.#connection = finding;
      finding.catch(() => (this.#connection = undefined));
    }
    return untilCancelled(this.#connection, signal);
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

/** JSON if it is valid JSON: proxies and old engines send errors as plain text. */
function decoded(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
