import { request } from "node:http";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../base/abort.ts";

/** What stands at a port: nothing, something that takes connections and does not answer, a server, or one with a page. */
export type PortState = "closed" | "silent" | "answers" | "page";

/** How long a first answer may take: some servers compile before it. */
const answerWithinMs = 30_000;
const maxHeadBytes = 65_536;

export interface PortProbe {
  readonly connect: (signal: AbortSignal) => Promise<Duplex>;
  readonly signal: AbortSignal;
  /** How long an answer may take, in milliseconds; default 30,000. */
  readonly withinMs?: number | undefined;
}

/** Asks whatever listens at a port for the head of its first page; any answer in HTTP will do. */
export async function probePort(
  port: number,
  { connect, signal, withinMs = answerWithinMs }: PortProbe,
): Promise<PortState> {
  let connection: Duplex;
  try {
    connection = await connect(signal);
  } catch {
    return "closed";
  }
  const { promise: answered, resolve } = Promise.withResolvers<PortState>();
  connection.on("error", () => resolve("silent"));
  const asked = request({
    method: "HEAD",
    path: "/",
    headers: { host: `localhost:${port}`, accept: "text/html" },
    createConnection: () => connection,
    maxHeaderSize: maxHeadBytes,
    signal,
  });
  asked.on("error", () => resolve("silent"));
  asked.on("response", ({ headers }) => resolve(isPage(headers["content-type"]) ? "page" : "answers"));
  asked.on("upgrade", () => resolve("silent"));
  asked.on("close", () => resolve("silent"));
  asked.end();
  try {
    return (await settlesWithin(answered, withinMs)) ? await answered : "silent";
  } finally {
    asked.destroy();
    connection.destroy();
  }
}

function isPage(type: string | undefined): boolean {
  return type !== undefined && /^text\/html\b/i.test(type);
}
