import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { mebibyte } from "../../base/bytes.ts";
import type { KubernetesApi } from "./api.ts";
import { notReached, shownWords } from "./kubernetes-errors.ts";

/** The first that can tell the end of input, and what every server since 1.30 has. */
const subprotocol = "v5.channel.k8s.io";
const handshakeMs = 10_000;
/** More than any server puts into one message. */
const maxMessageBytes = 4 * mebibyte;

/** A refusal of the API server to attach. */
export interface AttachRefusal {
  readonly status: number;
  readonly words: string;
}

/**
 * Opens a connection to the first process's standard streams. An open one may still end because there is nothing to attach to yet.
 * @throws ENGINE_UNAVAILABLE when the server cannot be reached
 */
export async function openAttach(
  api: KubernetesApi,
  { pod, container }: { readonly pod: string; readonly container: string },
  signal: AbortSignal | undefined,
): Promise<WebSocket | AttachRefusal> {
  const [{ access, tls, headers }, path] = await Promise.all([api.connection(), api.path("pods", pod)]);
  const url = new URL(`${access.url.pathname.replace(/\/$/, "")}${path}/attach`, access.url);
  url.protocol = "wss:";
  const query = { container, stdin: "true", stdout: "true", stderr: "true", tty: "false" };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const { ca, cert, key, servername, rejectUnauthorized } = tls;
  const socket = new WebSocket(url, subprotocol, {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    rejectUnauthorized: rejectUnauthorized !== false,
    headers,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: handshakeMs,
    maxPayload: maxMessageBytes,
  });
  const refused = Promise.withResolvers<AttachRefusal>();
  socket.on("unexpected-response", (_request, response: IncomingMessage) => {
    // Once the answer is read to its end, Node keeps the connection for a next request and knows no request that could end it.
    const connection = response.socket;
    void readStart(response).then((text) => {
      refused.resolve({ status: response.statusCode ?? 0, words: wordsOf(text) });
      connection.destroy();
    });
  });
  const giveUp = (): void => socket.terminate();
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    const opened = once(socket, "open").then(() => socket);
    return await Promise.race([opened, refused.promise]);
  } catch (error) {
    throw notReached(error);
  } finally {
    signal?.removeEventListener("abort", giveUp);
    socket.on("error", () => {
      // Its close follows.
    });
  }
}

const maxRefusalBytes = 4_096;

async function readStart(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString("utf8");
      if (text.length > maxRefusalBytes) break;
    }
  } catch {
    // What has come says enough.
  }
  return text;
}

function wordsOf(text: string): string {
  try {
    return shownWords((JSON.parse(text) as { readonly message?: unknown } | null)?.message ?? text);
  } catch {
    return shownWords(text);
  }
}
