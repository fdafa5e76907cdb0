import http from "node:http";
import type { IncomingMessage, ClientRequest } from "node:http";
import { cancelled, throwIfCancelled, untilCancelled, Deadline } from "../../../base/abort.ts";
import { mebibyte } from "../../../base/bytes.ts";
import { errorCode, GloveboxError } from "../../../errors/glovebox-error.ts";
import type { EngineName } from "../../engine.ts";
import { consistentStatus, statusError, type ApiAnswer, type ApiRequest } from "./api-answer.ts";
import type { Endpoint, SshEndpoint, SshTarget } from "./endpoint.ts";
import { unavailableError, type ConnectFailure, type Unavailability } from "../../unavailability.ts";
import { SshError, SshStream } from "./ssh-stream.ts";
import type { Socket } from "node:net";
import { Readable, type Duplex } from "node:stream";
import type https from "node:https";
import { createRequire } from "node:module";

/**
 * Options of every connection. Nobody is there to answer a question of `ssh`'s, and the other machine gets nothing of this
 * one: neither its agent nor its ports. What does not answer for a minute and a half is gone.
 */
const options = ["BatchMode=yes", "ConnectTimeout=30", "ServerAliveInterval=30", "ClearAllForwardings=yes"];

/**
 * Argument vector of the user's own `ssh` that carries one connection to the engine over its standard input and output,
 * as Docker's own client does. The words of the remote command hold nothing that a shell reads (`parseSshAddress`).
 */
function sshCommand({ host, user, port, socketPath }: SshTarget): readonly [string, ...string[]] {
  return [
    "ssh",
    ...options.flatMap((option) => ["-o", option]),
    ...["-a", "-x", "-T"],
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...["--", host],
    "docker",
    ...(socketPath === undefined ? [] : ["--host", `unix://${socketPath}`]),
    ...["system", "dial-stdio"],
  ];
}

/** The connection to an engine's API. It knows HTTP, not what the calls mean. */
export interface ApiConnection {
  readonly endpoint: Endpoint;
  /** Sends the request; resolves with any status as soon as the headers have arrived. Rejects with Node's own error. */
  send(request: ApiRequest): Promise<IncomingMessage>;
  /** A request to be upgraded to a raw stream; the caller sends it. */
  upgrade(request: ApiRequest): http.ClientRequest;
  /** Aborts what is still in progress. */
  close(): void;
}

/** Makes a request to one endpoint. */
type Requester = (options: http.RequestOptions) => http.ClientRequest;

/** Idle connections that are kept. */
const maxFreeSockets = 4;

/**
 * How long they are kept: less than the 5 s after which a Podman that systemd started ends when nobody asks it anything;
 * over SSH, where a new one takes a second, longer.
 */
const idleMs = { near: 3_000, ssh: 60_000 };

/** Nothing is opened before the first request. */
export function openConnection(endpoint: Endpoint): ApiConnection {
  const agent = agentOf(endpoint);
  const begin = requesterOf(endpoint, agent);
  return {
    endpoint,
    send: (request) => sendPatiently(begin, request),
    upgrade: (request) =>
      begin({
        method: request.method,
        path: pathOf(request),
        headers: { ...request.headers, connection: "Upgrade", upgrade: "tcp" },
      }),
    close: () => agent.destroy(),
  };
}

/** What `node:http` connects to; a pipe in the form that Node asks for. */
export function connectOptions(endpoint: Endpoint): http.RequestOptions {
  switch (endpoint.kind) {
    case "socket": {
      const { path } = endpoint;
      return { socketPath: path.startsWith("//") ? path.replaceAll("/", "\\") : path };
    }
    case "tcp":
      return { host: endpoint.host, port: endpoint.port };
    case "ssh":
      // For the header only.
      return { host: "localhost" };
  }
}

/** The secrets of TLS stay in the agent. */
function agentOf(endpoint: Endpoint): http.Agent {
  const keeping = { keepAlive: true, maxFreeSockets, timeout: idleMs[endpoint.kind === "ssh" ? "ssh" : "near"] };
  if (endpoint.kind === "ssh") return new SshAgent(endpoint, keeping);
  const tls = endpoint.kind === "tcp" ? endpoint.tls : null;
  if (tls === null) return new http.Agent(keeping);
  const { ca, cert, key, verify } = tls;
  const material = Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, text]) => text !== undefined));
  return new (tlsModule().Agent)({ ...keeping, ...material, rejectUnauthorized: verify });
}

function requesterOf(endpoint: Endpoint, agent: http.Agent): Requester {
  const { request } = endpoint.kind === "tcp" && endpoint.tls !== null ? tlsModule() : http;
  const target = connectOptions(endpoint);
  return (options) => request({ ...target, agent, ...options });
}

/** Loaded when used: with all of TLS, loading takes longer than the first question to an engine behind a socket. */
function tlsModule(): typeof https {
  return createRequire(import.meta.url)("node:https") as typeof https;
}

/** Each connection is a process of `ssh`. */
class SshAgent extends http.Agent {
  readonly #command: readonly [string, ...string[]];

  constructor(endpoint: SshEndpoint, options: http.AgentOptions) {
    super(options);
    this.#command = sshCommand(endpoint);
  }

  override createConnection(): Duplex {
    return new SshStream(this.#command);
  }
}

/** A question is repeated when the engine closed a kept connection just as it was used. */
async function sendPatiently(begin: Requester, request: ApiRequest): Promise<IncomingMessage> {
  const isQuestion = request.method === "GET" || request.method === "HEAD";
  for (let kept = maxFreeSockets; ; kept -= 1) {
    const begun = begin(requestOptions(request));
    try {
      return await send(begun, request);
    } catch (error) {
      const isStale = begun.reusedSocket && ["ECONNRESET", "EPIPE"].includes(errorCode(error));
      if (!isQuestion || !isStale || kept === 0) throw error;
    }
  }
}

function requestOptions(request: ApiRequest): http.RequestOptions {
  const { method, headers, archive, signal } = request;
  return {
    method,
    path: pathOf(request),
    headers: {
      ...headers,
      // The engine may answer before it has read all of it.
      ...(archive === undefined ? {} : { "content-type": "application/x-tar", connection: "close" }),
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(signal === undefined ? {} : { signal }),
  };
}

function send(begun: http.ClientRequest, { archive, body }: ApiRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const source =
    archive === undefined || archive instanceof Uint8Array ? null : Readable.from(archive, { objectMode: false });
  begun.on("error", (error) => {
    source?.destroy();
    reject(error);
  });
  begun.on("response", (response) => {
    source?.unpipe(begun).destroy();
    // The reader of the body is told by its iteration; the event must have a listener.
    response.on("error", () => undefined);
    resolve(response);
  });
  if (source !== null) {
    source.once("error", (error) => begun.destroy(error));
    source.pipe(begun);
    return promise;
  }
  const bytes = archive instanceof Uint8Array ? archive : body === undefined ? undefined : JSON.stringify(body);
  if (bytes === undefined) return (begun.end(), promise);
  begun.setHeader("content-length", Buffer.byteLength(bytes));
  begun.end(bytes);
  return promise;
}

function pathOf(request: ApiRequest): string {
  const query = new URLSearchParams(request.query).toString();
  return query === "" ? request.path : `${request.path}?${query}`;
}

/** A connection that carries a process's bytes both ways. */
interface RawStream {
  readonly socket: Duplex;
}

/**
 * Sends the request and takes the connection over once the engine agrees; its answer when it refuses.
 * The body must have a known length: a chunked one would reach the program's standard input on some engines.
 */
export function upgradeToStream(
  request: ClientRequest,
  { body, signal }: Pick<ApiRequest, "body" | "signal">,
): Promise<RawStream | IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<RawStream | IncomingMessage>();
  const onAbort = (): void => void request.destroy(new Error("aborted"));
  const settle = (): void => signal?.removeEventListener("abort", onAbort);
  signal?.addEventListener("abort", onAbort, { once: true });
  request.on("upgrade", (_response, socket: Duplex, head: Buffer) => {
    settle();
    // The time limit of an idle connection does not apply to this one any more.
    (socket as Partial<Pick<Socket, "setTimeout">>).setTimeout?.(0);
    // The end of a broken connection is told by `close`.
    socket.on("error", () => {
      // An error without a listener would end the server.
    });
    if (head.length > 0) socket.unshift(head);
    resolve({ socket });
  });
  request.on("response", (response) => {
    settle();
    response.on("error", () => {
      // Told by the iteration of its body.
    });
    resolve(response);
  });
  request.on("error", (error) => {
    settle();
    reject(error);
  });
  const text = body === undefined ? "" : JSON.stringify(body);
  if (text !== "") request.setHeader("content-type", "application/json");
  request.setHeader("content-length", Buffer.byteLength(text));
  request.setNoDelay(true);
  request.end(text);
  return promise;
}

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
