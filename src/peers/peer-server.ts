import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { settlesWithin } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { LiveConnection } from "../live/live-connection.ts";
import type { OperationContract, CallOperation } from "../operations/contract/operation-contract.ts";
import { readLogsContract, type ReadLogsRequest, type ReadLogsResponse } from "../operations/logs-contract.ts";
import { ownerLost, peerOperationAt } from "./peers.ts";
import type { PeerFolder } from "./peer-folder.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../base/logger.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";

interface ServeCall {
  /** Runs operations on the sandboxes of this process. */
  readonly call: CallOperation;
  readonly logger: Logger;
}

/** Code of WebSocket. */
const refused = 1008;
/** This machine's user, as everywhere. */
const principal = "local";

/**
 * Serves one call of another process, until nothing of it is left; if the connection ends, so does what it started.
 * Never rejects.
 */
async function serveCall(
  connection: LiveConnection,
  contract: OperationContract,
  { call, logger }: ServeCall,
): Promise<void> {
  try {
    const start = await connection.started();
    if (start === null) return connection.close(refused, "expected start as the first message");
    const request = parseRequest(contract, start.request);
    // Operations that only read are requested each second.
    const level = contract.channel === undefined ? "debug" : "info";
    logger[level]({ operation: contract.name }, "another process of this user asks");
    const { streams, gone: signal, tell: onEvent } = connection;
    const answer = await call(contract, request, { ...streams, principal, isOperator: true, signal, onEvent });
    connection.end({ body: JSON.stringify(answer), isError: false });
  } catch (error) {
    const known = toGloveboxError(error);
    if (known.errorType === "INTERNAL") logger.error({ err: error }, "a call of another process failed");
    connection.end({ body: JSON.stringify(known.toWire()), isError: true });
  }
}

/**
 * A reader that follows a log requests the next part immediately; one that does not within this time is considered
 * gone.
 */
const returnWithinMs = 1_000;
const lookEachMs = 10;

/** The readers that follow logs of this process by polling, so that the process does not end between two requests. */
class LogReaders {
  #asking = 0;
  readonly #returning = new Set<NodeJS.Timeout>();

  /** The same call, with readers tracked. */
  watch(call: CallOperation): CallOperation {
    return async (contract, request, how) => {
      if (contract.name !== readLogsContract.name) return call(contract, request, how);
      this.#asking += 1;
      this.#forgetOne();
      try {
        const page = await call(contract, request, how);
        if (isFollowed(request, page as ReadLogsResponse)) this.#expectOne();
        return page;
      } finally {
        this.#asking -= 1;
      }
    };
  }

  /** Resolves when all have read everything, or the time is up. */
  async served(withinMs: number): Promise<void> {
    for (let waited = 0; waited < withinMs && this.#asking + this.#returning.size > 0; waited += lookEachMs) {
      await sleep(lookEachMs);
    }
  }

  #expectOne(): void {
    const timer = setTimeout(() => this.#returning.delete(timer), returnWithinMs).unref();
    this.#returning.add(timer);
  }

  #forgetOne(): void {
    const [timer] = this.#returning;
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#returning.delete(timer);
  }
}

function isFollowed({ wait_seconds: waitSeconds = 0 }: Partial<ReadLogsRequest>, page: ReadLogsResponse): boolean {
  return waitSeconds > 0 && !page.is_over;
}

export interface PeerServerOptions extends ServeCall {
  readonly folder: Pick<PeerFolder, "open" | "ownAddress">;
  readonly platform: NodeJS.Platform;
}

/** Open connections must leave descriptors for sandboxes, and end soon. */
const maxConnections = 1024;
/** Larger than any valid command with its variables. */
const maxMessageBytes = 2 * mebibyte;
const headersWithinMs = 10_000;
const checkConnectionsEachMs = 2_000;
/** How long readers of logs may take to get the last entries, and connections to close by themselves. */
const lastEntriesMs = 400;
const lastWordsMs = 50;
/** WebSocket close code: the server is going away. */
const goingAway = 1001;
/** For an operation that this version does not have. */
const notFound = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n";

/**
 * Gives other processes of the same user access to this process's live sandboxes: HTTP over a unix socket in a folder
 * that only this user can enter, on Windows over a named pipe; each operation is a WebSocket (`wire-messages.ts`). No
 * mount reaches that folder (`protectedPlaces`).
 */
export class PeerServer {
  readonly #options: PeerServerOptions;
  readonly #readers = new LogReaders();
  readonly #calls = new Map<LiveConnection, { readonly contract: OperationContract; readonly served: Promise<void> }>();
  #opened: Promise<Server> | undefined;
  #sockets: Promise<WebSocketServer> | undefined;
  #isEnding = false;
  #isClosed = false;

  constructor(options: PeerServerOptions) {
    this.#options = options;
  }

  /** Opens it, once, and resolves to its address. */
  async open(): Promise<string> {
    this.#opened ??= this.#open();
    await this.#opened;
    return this.#options.folder.ownAddress;
  }

  /** Ends all calls except those that read logs, with the programs that they run, and accepts no new ones. */
  async endCalls(): Promise<void> {
    this.#isEnding = true;
    const ended = [...this.#calls].filter(([, { contract }]) => contract !== readLogsContract);
    for (const [connection] of ended) connection.close(goingAway, "the process ends");
    await Promise.all(ended.map(([, { served }]) => served));
  }

  /** Ends every call; readers of logs that have ended get the last entries first. */
  async close(): Promise<void> {
    await this.endCalls();
    const server = await this.#opened?.catch(() => undefined);
    const sockets = await this.#sockets;
    await this.#readers.served(lastEntriesMs);
    this.#isClosed = true;
    const clients = [...(sockets?.clients ?? [])];
    if (clients.length > 0) await settlesWithin(Promise.all(clients.map(untilClosed)), lastWordsMs);
    server?.close();
    server?.closeAllConnections();
    for (const client of sockets?.clients ?? []) client.terminate();
    await Promise.all([...this.#calls.values()].map(({ served }) => served));
  }

  async #open(): Promise<Server> {
    const { folder, platform } = this.#options;
    await folder.open();
    const server = createServer({
      headersTimeout: headersWithinMs,
      requestTimeout: headersWithinMs,
      connectionsCheckingInterval: checkConnectionsEachMs,
    });
    server.maxConnections = maxConnections;
    server.on("request", (_, response) => response.writeHead(426, { connection: "close" }).end());
    server.on("upgrade", (request, socket, head) => {
      this.#upgrade(request, socket, head).catch((error: unknown) => {
        this.#options.logger.error({ err: error }, "another process could not be let in");
        socket.destroy();
      });
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(folder.ownAddress, resolve);
    await promise;
    // A process exits when its own work is done, even if others might still connect.
    server.unref();
    if (platform !== "win32") await chmod(folder.ownAddress, 0o600);
    return server;
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {
      // Its close follows.
    });
    const contract = peerOperationAt(request.url);
    if (contract === undefined) return void socket.end(notFound, () => socket.destroy());
    const sockets = await (this.#sockets ??= openSockets());
    if (this.#isClosed) return void socket.destroy();
    sockets.handleUpgrade(request, socket, head, (client) => this.#serve(client, contract));
  }

  #serve(client: WebSocket, contract: OperationContract): void {
    const connection = new LiveConnection(client, { isLocal: true });
    if (this.#isEnding && contract !== readLogsContract) {
      return connection.end({ body: JSON.stringify(ownerLost().toWire()), isError: true });
    }
    const { call, logger } = this.#options;
    const served = serveCall(connection, contract, { call: this.#readers.watch(call), logger });
    this.#calls.set(connection, { contract, served });
    void served.then(() => this.#calls.delete(connection));
  }
}

/** Loaded on use: most processes are never contacted. */
async function openSockets(): Promise<WebSocketServer> {
  const { WebSocketServer: Sockets } = await import("ws");
  return new Sockets({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
}

function untilClosed(client: WebSocket): Promise<void> {
  return new Promise((resolve) => client.once("close", () => resolve()));
}
