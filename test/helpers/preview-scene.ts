import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { PreviewGateway } from "../../src/ingress/preview-gateway.ts";

/** A way into a simulated program, which listens on this machine's loopback instead of in a sandbox. */
export interface PreviewScene extends Disposable {
  readonly url: URL;
  readonly direct: URL;
  /** What the program believes its own address to be. */
  readonly inner: string;
  readonly gateway: PreviewGateway;
  /** Sends one request to the address, with any Host; returns the headers and the text of the answer. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Sends raw bytes, and others when the first answer to them has come; returns all that comes back until the end. */
  raw(bytes: string, others?: string): Promise<string>;
  end(): void;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export interface PreviewSceneOptions {
  readonly backend?: string | null;
  /** The user's own. */
  readonly token?: string | null;
  /** Whether connections to the program can be made. */
  readonly isOpen?: () => boolean;
  readonly isStarting?: () => boolean;
}

/** Opens it over a server that gets the raw connections, or over an HTTP server that is already listening. */
export async function openPreviewScene(
  program: ((socket: Socket) => void) | Server,
  { backend = null, token = null, isOpen = () => true, isStarting = () => false }: PreviewSceneOptions = {},
): Promise<PreviewScene> {
  const server = typeof program === "function" ? createServer(program) : program;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const gateway = new PreviewGateway({ domain: null, backend, readToken: () => Promise.resolve(token) });
  const opened = await gateway.open({
    principal: "local",
    port: () => port,
    connect: async (signal) => {
      if (!isOpen()) throw new Error("nothing listens");
      const socket = connect({ port, host: "127.0.0.1" });
      await once(socket, "connect", { signal });
      return socket;
    },
    isStarting,
  });
  const direct = new URL(opened.directUrl ?? "");
  const ask = (path: string, { method = "GET", headers = {}, body }: AskOptions = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ host: "127.0.0.1", port: direct.port, path, method, headers, agent: false });
      sent.on("error", reject);
      sent.on("response", (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => (text += chunk));
        answer.on("error", reject);
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      sent.end(body);
    });
  const raw = async (bytes: string, others?: string): Promise<string> => {
    const socket = connect({ port: Number(direct.port), host: "127.0.0.1", allowHalfOpen: true });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.write(bytes, "latin1");
    if (others !== undefined) {
      await once(socket, "data");
      socket.write(others, "latin1");
    }
    await once(socket, "close");
    return text;
  };
  const end = (): void => {
    opened.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return {
    ...{ url: new URL(opened.url), direct, inner: `localhost:${port}`, gateway, ask, raw, end },
    [Symbol.dispose]: end,
  };
}

/** A program that answers every connection with these bytes, whatever the request, and then closes it. */
export function answering(bytes: string): (socket: Socket) => void {
  return (socket) => void socket.once("data", () => socket.end(bytes, "latin1"));
}
