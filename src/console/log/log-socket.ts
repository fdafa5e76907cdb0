import { ask, sandboxPath } from "../api/ask.ts";
import type { LogLine } from "./log-window.ts";

export interface LogSocketOptions {
  /** The first line that is wanted. */
  readonly offset: number;
  readonly signal: AbortSignal;
  /** Lines that came within a moment, in their order. */
  readonly onLines: (lines: readonly LogLine[]) => void;
}

/** How often lines are handed on together: a flood is drawn a few times a second. */
const gatherMs = 80;
/** The log's end, in WebSocket's codes. */
const normalEnd = 1000;

/**
 * Follows a log over a WebSocket, which a ticket opens: the token itself never stands in an address. Resolves to `over`
 * at the log's end, to `broken` when the connection ends before.
 * @throws ApiFailure
 */
export async function openLogSocket(
  id: string,
  { offset, signal, onLines }: LogSocketOptions,
): Promise<"over" | "broken"> {
  const { ticket } = await ask<{ readonly ticket: string }>("POST", "/api/tickets", { signal });
  const address = new URL(
    `${sandboxPath(id, "/logs")}?${new URLSearchParams({ offset: String(offset), ticket })}`,
    location.href,
  );
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  const end = Promise.withResolvers<"over" | "broken">();
  let gathered: LogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handOn = (): void => {
    timer = undefined;
    const lines = gathered;
    gathered = [];
    if (!signal.aborted && lines.length > 0) onLines(lines);
  };
  socket.addEventListener("message", ({ data }) => {
    gathered.push(JSON.parse(String(data)) as LogLine);
    timer ??= setTimeout(handOn, gatherMs);
  });
  socket.addEventListener("close", ({ code }) => {
    clearTimeout(timer);
    handOn();
    end.resolve(code === normalEnd ? "over" : "broken");
  });
  signal.addEventListener("abort", () => socket.close(), { once: true });
  if (signal.aborted) socket.close();
  return end.promise;
}
