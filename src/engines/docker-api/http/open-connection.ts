import http, { type IncomingMessage } from "node:http";
import type https from "node:https";
import { createRequire } from "node:module";
import { Readable, type Duplex } from "node:stream";
import { errorCode } from "../../../errors/error-code.ts";
import type { ApiRequest } from "./api-request.ts";
import type { Endpoint, SshEndpoint } from "./endpoint.ts";
import { sshCommand } from "./ssh-command.ts";
import { SshStream } from "./ssh-stream.ts";

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
