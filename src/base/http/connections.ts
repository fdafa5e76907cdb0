import type { Duplex } from "node:stream";
import { mebibyte } from "../bytes.ts";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** What is still read, and how long, of a client that goes on sending. */
const max = { bytes: mebibyte, ms: 2_000 } as const;

/**
 * Writes the last bytes of a connection and ends it, reading and dropping what its client has yet to send, at most 1 MiB and
 * for 2 s: closed on unread bytes, the client would lose the answer with them. Who read before reads no more.
 */
export function answerAndClose(socket: Duplex, answer: string): void {
  socket.removeAllListeners("data");
  let left: number = max.bytes;
  socket.on("data", (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.destroy();
  });
  const late = setTimeout(() => socket.destroy(), max.ms).unref();
  socket.once("close", () => clearTimeout(late));
  socket.end(answer);
}

/** How many connections a server has at once. */
export interface ConnectionLimits {
  /** Of all principals together. */
  readonly maxKnown: number;
  /** Of one principal, and as many of everyone who looks at its previews. */
  readonly maxOfOne: number;
  /** Of all who have not shown whose they are. */
  readonly maxUnknown: number;
}

/** Who a connection belongs to. */
export interface ConnectionOwner {
  readonly principal: string;
  /** Whether it leads to a preview of the principal's. They count apart: who looks at a page shuts nobody out of the API. */
  readonly isPreview?: boolean;
}

/** One of the connections that are not known yet. */
interface Unknown {
  readonly address: string;
  /** The answer to what it asked without a key, if any. */
  answer: ServerResponse | null;
}

const defaultLimits: ConnectionLimits = { maxKnown: 896, maxOfOne: 256, maxUnknown: 128 };
/** Those that are being closed still count for Node, which closes further ones without a word. */
const closing = 128;
const retrySeconds = 5;

/**
 * Whose the connections of a server are, WebSockets included. A connection belongs to the principal of its newest request, and
 * until the first one to nobody.
 *
 * - A principal beyond its share is refused alone. Nobody takes more than half of what is left, so that a few which take all
 *   they may leave room for another.
 * - Of connections that are not known, one too many ends the oldest of the address that has most: silent ones never keep out one
 *   that is about to show its key.
 */
export class ConnectionShares {
  readonly #limits: ConnectionLimits;
  /** In the order in which they came. */
  readonly #unknown = new Map<Duplex, Unknown>();
  readonly #owners = new Map<Duplex, string>();
  readonly #counts = new Map<string, number>();

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** From now on the server's connections count. */
  watch(server: Server): void {
    const { maxKnown, maxUnknown } = this.#limits;
    server.maxConnections = maxKnown + maxUnknown + closing;
    server.on("connection", (socket: Socket) => {
      this.#unknown.set(socket, { address: socket.remoteAddress ?? "", answer: null });
      socket.once("close", () => this.#forget(socket));
      if (this.#unknown.size > maxUnknown) this.#endOneUnknown();
    });
    server.on("request", ({ socket }: IncomingMessage, answer: ServerResponse) => {
      const unknown = this.#unknown.get(socket);
      if (unknown !== undefined) unknown.answer = answer;
    });
  }

  /** From now on a connection is that owner's. @throws CAPACITY if the owner has too many; it is then whose it was before */
  claim(socket: Duplex, owner: ConnectionOwner): void {
    const name = nameOf(owner);
    // One that has closed meanwhile, or that nobody counts.
    if (!this.#unknown.has(socket) && !this.#owners.has(socket)) return;
    if (this.#owners.get(socket) === name) return;
    const { maxKnown, maxOfOne } = this.#limits;
    const count = this.#counts.get(name) ?? 0;
    const max = Math.min(maxOfOne, Math.floor((maxKnown - this.#owners.size) / 2));
    if (count >= max) throw tooMany(owner, count);
    this.#giveUp(socket);
    this.#unknown.delete(socket);
    this.#owners.set(socket, name);
    this.#counts.set(name, count + 1);
  }

  /** How many an owner has now; null: those that are not known. */
  of(owner: ConnectionOwner | null): number {
    return owner === null ? this.#unknown.size : (this.#counts.get(nameOf(owner)) ?? 0);
  }

  #forget(socket: Duplex): void {
    this.#unknown.delete(socket);
    this.#giveUp(socket);
  }

  #giveUp(socket: Duplex): void {
    const name = this.#owners.get(socket);
    if (name === undefined) return;
    this.#owners.delete(socket);
    const left = (this.#counts.get(name) ?? 0) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }

  /** The oldest of the address that has most. */
  #endOneUnknown(): void {
    const counts = new Map<string, number>();
    for (const { address } of this.#unknown.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    for (const [socket, { address, answer }] of this.#unknown) {
      if (counts.get(address) !== most) continue;
      this.#unknown.delete(socket);
      const isAnswering = answer !== null && !answer.writableFinished;
      if (isAnswering) socket.destroy();
      else socket.end(unknownAnswer(), () => socket.destroy());
      return;
    }
  }
}

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

function nameOf({ principal, isPreview = false }: ConnectionOwner): string {
  return `${isPreview ? "previews" : "calls"} ${principal}`;
}

function tooMany({ isPreview = false }: ConnectionOwner, count: number): GloveboxError {
  const whose = isPreview ? "connections to previews of this owner" : "of your connections";
  return new GloveboxError("CAPACITY", `${count} ${whose} are open already, which is as much as may be at once.`, {
    suggestion: "Close those that you do not need, use open ones for further requests, and retry.",
    context: { limit: count, retry_after_seconds: retrySeconds },
  });
}

/** What a connection is told that has to go before it has asked anything with a key: nothing of it was done. */
function unknownAnswer(): string {
  const error = new GloveboxError("CAPACITY", "Too many connections have not shown a key.", {
    suggestion: "Connect again, and send the request with its key at once.",
    context: { retry_after_seconds: retrySeconds },
  });
  const body = JSON.stringify(error.toWire());
  const head = [
    "HTTP/1.1 429 Too Many Requests",
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `retry-after: ${retrySeconds}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
