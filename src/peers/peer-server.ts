import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { settlesWithin } from "../base/abort.ts";
import { mebibyte } from "../base/bytes.ts";
import { LiveConnection } from "../live/live-connection.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { readLogsContract } from "../operations/logs/read-logs-contract.ts";
import { LogReaders } from "./log-readers.ts";
import { ownerLost } from "./peer-errors.ts";
import type { PeerFolder } from "./peer-folder.ts";
import { peerOperationAt } from "./peer-operations.ts";
import { serveCall, type ServeCall } from "./serve-call.ts";

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
 * that only this user can enter, on Windows over a named pipe; each operation is a WebSocket (`live-messages.ts`). No
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
