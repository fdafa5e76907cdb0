import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";

/** A reader that accepts nothing for this long is ended. */
const stalledAfterMs = 60_000;
/**
 * A connection without a request is kept longer than clients keep theirs (reqwest and hyper 90 s, undici 4 s, httpx 5 s),
 * so that no request meets the end of the one that it is sent on: that of an upload is not sent again.
 */
const idleMs = 100_000;
/** Requests that may come behind one that is not answered yet; they are not read. */
const maxBehind = 16;

/** What is going on on one connection. */
interface Connection {
  answer: ServerResponse | null;
  behind: number;
  isUpgraded: boolean;
}

/**
 * Bounds what one connection of a server may have open; call this after all other listeners have been added.
 *
 * - One request at a time: those sent before the answer to an earlier one (pipelining) are not served, and the connection
 *   ends after that answer, as HTTP/1.1 allows.
 * - A reader that accepts nothing of an answer for a minute is ended. One whose answer is still being worked out is not.
 * - A connection that has had its answer waits 100 s for the next request.
 */
export function guardConnections(server: Server, { stalledMs = stalledAfterMs } = {}): void {
  const connections = new WeakMap<Duplex, Connection>();
  const connectionOf = (socket: Duplex): Connection => {
    const known = connections.get(socket) ?? { answer: null, behind: 0, isUpgraded: false };
    connections.set(socket, known);
    return known;
  };
  wrap(server, "request", ({ socket }, response, pass) => {
    const connection = connectionOf(socket);
    const { answer } = connection;
    if (answer === null || answer.writableFinished) {
      connection.answer = response as ServerResponse;
      return pass();
    }
    connection.behind += 1;
    if (connection.behind === 1) answer.once("close", () => socket.destroySoon());
    if (connection.behind > maxBehind) socket.destroy();
  });
  wrap(server, "upgrade", ({ socket }, _, pass) => {
    const connection = connectionOf(socket);
    if (connection.answer !== null && !connection.answer.writableFinished) return socket.destroy();
    connection.isUpgraded = true;
    return pass();
  });
  server.setTimeout(stalledMs);
  server.keepAliveTimeout = idleMs;
  server.on("timeout", (socket: Socket) => {
    const { answer, isUpgraded } = connectionOf(socket);
    const isWorking = isUpgraded || (answer !== null && !answer.writableFinished);
    if (!isWorking || socket.writableLength > 0) socket.destroy();
  });
}

/** Puts a listener before all others of an event, which it may pass the event on to. */
function wrap(
  server: Server,
  event: "request" | "upgrade",
  listener: (request: IncomingMessage, response: unknown, pass: () => void) => void,
): void {
  const others = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (request: IncomingMessage, ...more: unknown[]) =>
    listener(request, more[0], () => {
      for (const other of others) Reflect.apply(other, server, [request, ...more]);
    }),
  );
}
