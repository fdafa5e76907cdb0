import { once } from "node:events";
import { WebSocket, type ClientOptions } from "ws";
import { connect, type Glovebox } from "../../src/index.ts";
import { startKeyServer, type KeyServer, type TestKey } from "./key-server.ts";
import { runCommand, type CommandOptions, type CommandResult } from "./run-command.ts";

/** A server with a key, and a live sandbox of that key. */
export interface RemoteScene extends AsyncDisposable {
  readonly server: KeyServer;
  readonly key: TestKey;
  readonly glovebox: Glovebox;
  /** The id of a session of the key. */
  readonly id: string;
  /** Runs `glovebox` as a client with the key. */
  command(argv: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Opens a WebSocket with the key. */
  open(route: string, options?: ClientOptions): RawCall;
}

/** A WebSocket that keeps what it receives. */
export interface RawCall {
  readonly socket: WebSocket;
  /** Text messages, parsed. */
  readonly events: readonly Record<string, unknown>[];
  /** Bytes of output that arrived. */
  readonly received: () => number;
  readonly closed: Promise<number>;
  readonly say: (message: object) => void;
}

/** `more`: variables of the server; `rights`: options of `glovebox keys add`. */
export async function openRemoteScene(
  engine: string,
  more: Readonly<Record<string, string>> = {},
  rights: readonly string[] = [],
): Promise<RemoteScene> {
  const server = await startKeyServer(["--engine", engine], more);
  const key = await server.addKey("own", ...rights);
  const glovebox = connect({ url: server.url, key: key.text });
  const session = await glovebox.sessions.open();
  const { sandboxId } = await session.run({ language: "python", code: "open('a.txt', 'w').write('hi')" });
  const environment = { GLOVEBOX_URL: server.url, GLOVEBOX_KEY: key.text };
  return {
    ...{ server, key, glovebox },
    id: sandboxId,
    command: (argv, options) => runCommand(argv, { ...options, environment }),
    open: (route, options) =>
      openRaw(`${server.url.replace("http", "ws")}${route}`, { ...bearer(key.text), ...options }),
    [Symbol.asyncDispose]: async () => {
      await glovebox.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The headers that send a key. */
export function bearer(key: string): ClientOptions {
  return { headers: { authorization: `Bearer ${key}` } };
}

/** A WebSocket at that address. */
export function openRaw(url: string, options: ClientOptions): RawCall {
  const socket = new WebSocket(url, options);
  const events: Record<string, unknown>[] = [];
  let received = 0;
  socket.on("message", (data, isBinary) => {
    if (isBinary) received += (data as Buffer).length - 1;
    else events.push(JSON.parse((data as Buffer).toString("utf8")) as Record<string, unknown>);
  });
  socket.on("error", () => undefined);
  const closed = once(socket, "close").then(([code]) => code as number);
  return { socket, events, received: () => received, closed, say: (message) => socket.send(JSON.stringify(message)) };
}

/** The HTTP status with which a WebSocket is refused. */
export function refusalOf(url: string, options: ClientOptions): Promise<number> {
  const socket = new WebSocket(url, options);
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (request, { statusCode = 0 }) => {
      request.destroy();
      resolve(statusCode);
    });
    socket.on("open", () => {
      socket.terminate();
      reject(new Error("It opened."));
    });
    socket.on("error", () => undefined);
  });
}
