import { request } from "node:http";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../base/abort.ts";

/** What stands at a port: nothing, something that takes connections and does not answer, or a server. */
export type PortState = "closed" | "silent" | "answers";

/** How long a first answer may take: some servers compile before it. */
const answerWithinMs = 30_000;
const maxHeadBytes = 65_536;

/** Asks whatever listens at a port for the head of its first page; any answer in HTTP will do. */
export async function probePort(
  port: number,
  connect: (signal: AbortSignal) => Promise<Duplex>,
  signal: AbortSignal,
): Promise<PortState> {
  let connection: Duplex;
  try {
    connection = await connect(signal);
  } catch {
    return "closed";
  }
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();
  connection.on("error", () => resolve(false));
  const asked = request({
    method: "HEAD",
    path: "/",
    headers: { host: `localhost:${port}`, accept: "text/html" },
    createConnection: () => connection,
    maxHeaderSize: maxHeadBytes,
    signal,
  });
  asked.on("error", () => resolve(false));
  asked.on("response", () => resolve(true));
  asked.on("upgrade", () => resolve(false));
  asked.on("close", () => resolve(false));
  asked.end();
  try {
    return (await settlesWithin(answered, answerWithinMs)) && (await answered) ? "answers" : "silent";
  } finally {
    asked.destroy();
    connection.destroy();
  }
}
