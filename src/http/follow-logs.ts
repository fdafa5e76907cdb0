import type { Socket } from "node:net";
import type { WebSocket } from "@fastify/websocket";
import { settlesWithin } from "../base/abort.ts";
import type { ErrorType } from "../errors/catalogue.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { readLogsContract } from "../operations/logs-contract.ts";
import type { RequestOf } from "../operations/contract/operation-contract.ts";
import type { Caller } from "./caller.ts";
import type { RouteContext } from "./routes/route-context.ts";

/** Maximum entries and characters in flight to a reader: more is read once it has taken them. */
const onTheWay = { entries: 500, characters: 262_144 } as const;
/** Readers send nothing. */
const maxMessageBytes = 1024;
/** A reader that takes nothing for this long is considered gone. */
const patienceMs = 60_000;
/** How often to ping a silent connection. */
const pingMs = 30_000;

/** Codes of WebSocket. */
const closed = { normal: 1000, refused: 1008, tooBig: 1009, failed: 1011, slow: 1013 } as const;

/** By the type of what went wrong; others are refusals. */
const closeCodes: Readonly<Partial<Record<ErrorType, number>>> = { INTERNAL: closed.failed, CAPACITY: closed.slow };

/** Who follows a log. */
interface FollowingReader {
  readonly socket: WebSocket;
  /** The socket below the WebSocket, so that messages sent together go out together. */
  readonly connection: Pick<Socket, "cork" | "uncork">;
  readonly caller: Caller;
}

/**
 * Sends the log of a sandbox from an offset on, one entry per message, and continues as it grows, until it ends or its
 * reader leaves. A slow reader slows down nothing else: one entry counts what has been dropped from memory and store by
 * then.
 */
export async function followLogs(
  { platform, inFlight, logger }: Pick<RouteContext, "platform" | "inFlight" | "logger">,
  request: RequestOf<typeof readLogsContract>,
  { socket, connection, caller }: FollowingReader,
): Promise<void> {
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  socket.on("message", (data) => {
    if ((data as Buffer).length > maxMessageBytes) socket.close(closed.tooBig);
  });
  caller.revoked?.addEventListener("abort", () => socket.close(closed.refused, "CANCELLED: the key was revoked"), {
    once: true,
    signal: gone.signal,
  });
  const ping = setInterval(() => socket.ping(), pingMs);
  gone.signal.addEventListener("abort", () => clearInterval(ping), { once: true });
  // Pongs that a reader asks for and does not take.
  socket.on("ping", () => {
    if (socket.bufferedAmount > 2 * onTheWay.characters) socket.terminate();
  });
  const { principal, within } = caller;
  let { id, offset, tail } = request;
  try {
    // A character has at most four bytes, and few have more than two.
    const held = inFlight.hold(principal, 2 * onTheWay.characters);
    gone.signal.addEventListener("abort", () => held.release(), { once: true });
    while (!gone.signal.aborted) {
      const wanted = { ...request, id, offset, tail, limit: onTheWay.entries, wait_seconds: 0 };
      const page = await platform.call(readLogsContract, wanted, { principal, within, signal: gone.signal });
      if (!(await send({ socket, connection }, page.entries))) return socket.terminate();
      const isNews = page.entries.length > 0 || page.next_offset > (offset ?? 0);
      ({ container_id: id, next_offset: offset } = page);
      tail = undefined;
      if (page.is_over) return socket.close(closed.normal, "the log has ended");
      if (!isNews) await platform.logs.find(id)?.until(offset, gone.signal);
    }
  } catch (error) {
    const { errorType, message } = toGloveboxError(error);
    if (errorType === "INTERNAL") logger.error({ err: error }, "a log could not be followed");
    socket.close(closeCodes[errorType] ?? closed.refused, message.slice(0, 100));
  }
}

/** False if the reader does not take them. */
async function send(
  { socket, connection }: Pick<FollowingReader, "socket" | "connection">,
  entries: readonly unknown[],
): Promise<boolean> {
  let characters = 0;
  connection.cork();
  try {
    for (const [index, entry] of entries.entries()) {
      const text = JSON.stringify(entry);
      characters += text.length;
      const isLast = index === entries.length - 1;
      if (!isLast && characters < onTheWay.characters) {
        socket.send(text);
        continue;
      }
      characters = 0;
      const { promise: taken, resolve } = Promise.withResolvers<void>();
      // Also called when the connection has ended.
      socket.send(text, () => resolve());
      connection.uncork();
      if (!(await settlesWithin(taken, patienceMs))) return false;
      connection.cork();
    }
  } finally {
    connection.uncork();
  }
  return true;
}
