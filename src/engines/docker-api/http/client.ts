import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import net from "node:net";
import { Readable } from "node:stream";
import type { ApiRequest } from "./api-request.ts";
import type { Endpoint } from "./endpoint.ts";

/** One open way to an engine's API. It knows HTTP, not what the calls mean. */
export interface ApiConnection {
  readonly endpoint: Endpoint;
  /** Sends the request; resolves with any status as soon as the headers are there. Rejects with Node's own error. */
  send(request: ApiRequest): Promise<IncomingMessage>;
  /** A request to be upgraded to a raw stream; the caller sends it. */
  upgrade(request: ApiRequest): http.ClientRequest;
  /** Breaks what is still under way. */
  close(): void;
}

/** The subset of dockerode's transport in use. */
interface Modem {
  dial(options: DialOptions, callback: (error: Error | null, response: IncomingMessage | null) => void): void;
}

interface DialOptions {
  readonly path: string;
  readonly method: string;
  readonly options: { readonly _query: Readonly<Record<string, string>>; readonly _body: object };
  readonly headers: Readonly<Record<string, string>>;
  readonly isStream: true;
  readonly statusCodes: Readonly<Record<number, true>>;
  readonly abortSignal: AbortSignal | undefined;
  readonly file: Buffer | Readable | undefined;
}

/** All statuses are answers: what one means depends on the call. */
const anyStatus = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [100 + index, true as const]));

/** Rejects with Node's own error when nothing listens there. */
export async function openConnection(endpoint: Endpoint): Promise<ApiConnection> {
  const target = endpoint.kind === "socket" ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
  // Loading the client takes more than 100 ms, which a machine without the engine need not pay.
  const probe = net.connect(target);
  try {
    await once(probe, "connect");
  } finally {
    probe.destroy();
  }
  const { default: Dockerode } = await import("dockerode");
  const tls = endpoint.kind === "tcp" ? endpoint.tls : null;
  // Kept-alive connections gain nothing here and break when the engine restarts.
  const agent =
    tls === null
      ? new http.Agent({ keepAlive: false })
      : new https.Agent({
          keepAlive: false,
          rejectUnauthorized: tls.verify,
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
          ...(tls.cert === undefined ? {} : { cert: tls.cert }),
          ...(tls.key === undefined ? {} : { key: tls.key }),
        });
  const protocol = tls === null ? "http" : "https";
  const modem = new Dockerode(modemOptions(endpoint, protocol, agent)).modem as Modem;
  return {
    endpoint,
    send: (request) => send(modem, request),
    upgrade: (request) =>
      (tls === null ? http : https).request({
        ...(endpoint.kind === "socket" ? { socketPath: endpoint.path } : target),
        agent,
        method: request.method,
        path: pathOf(request),
        headers: { ...request.headers, connection: "Upgrade", upgrade: "tcp" },
      }),
    close: () => agent.destroy(),
  };
}

/** Each key is given, because dockerode reads what is left out from the environment. */
function modemOptions(endpoint: Endpoint, protocol: "http" | "https", agent: http.Agent): object {
  return {
    socketPath: endpoint.kind === "socket" ? endpoint.path : undefined,
    host: endpoint.kind === "tcp" ? endpoint.host : undefined,
    port: endpoint.kind === "tcp" ? endpoint.port : undefined,
    pathPrefix: "/",
    protocol,
    agent,
    timeout: undefined,
    username: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
  };
}

function send(modem: Modem, request: ApiRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const file = fileOf(request);
  const unreadable = new AbortController();
  // The client pipes it and hears of no error.
  if (file instanceof Readable) file.once("error", (error) => unreadable.abort(error));
  modem.dial(
    {
      // The mark asks for the query to be added.
      path: `${request.path}?`,
      method: request.method,
      options: { _query: request.query ?? {}, _body: request.body ?? {} },
      headers: { ...request.headers },
      isStream: true,
      statusCodes: anyStatus,
      abortSignal: AbortSignal.any([unreadable.signal, ...(request.signal === undefined ? [] : [request.signal])]),
      file,
    },
    (error, response) => {
      if (file instanceof Readable) file.destroy();
      if (response === null) return reject(error ?? new Error("no answer"));
      // Whoever reads the body is told by the iteration; nobody must be told twice.
      response.on("error", () => {
        // An error without a listener would end the server.
      });
      resolve(response);
    },
  );
  return promise;
}

function fileOf({ archive }: ApiRequest): DialOptions["file"] {
  if (archive === undefined || archive instanceof Uint8Array)
    return archive === undefined ? undefined : Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  return Readable.from(archive, { objectMode: false });
}

function pathOf(request: ApiRequest): string {
  const query = new URLSearchParams(request.query).toString();
  return query === "" ? request.path : `${request.path}?${query}`;
}
