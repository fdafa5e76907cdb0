import http from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { upgradeToStream } from "./api.ts";

let server: http.Server;
const heads: string[] = [];
const sockets = new Set<Socket>();

async function serve(onUpgrade: ((socket: Socket) => void) | null): Promise<http.ClientRequest> {
  server = http.createServer((_request, response) => response.writeHead(404).end('{"message":"no"}'));
  server.on("connection", (socket: Socket) => sockets.add(socket));
  if (onUpgrade !== null) {
    server.on("upgrade", (request, socket: Socket) => {
      heads.push(`${request.headers["content-length"]} ${request.headers["transfer-encoding"] ?? "plain"}`);
      onUpgrade(socket);
    });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return http.request({ port, host: "127.0.0.1", method: "POST", headers: { connection: "Upgrade", upgrade: "tcp" } });
}

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const accept = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

describe("upgradeToStream", () => {
  it("gives the stream with what came together with the headers, and no chunked body", async () => {
    const opened = await upgradeToStream(await serve((socket) => socket.end(`${accept}early`)), {});
    if (!("socket" in opened) || opened instanceof http.IncomingMessage) throw new Error("not upgraded");
    expect(await textOf(opened.socket)).toBe("early");
    expect(heads.at(-1)).toBe("0 plain");
  });

  it("gives the answer of an engine that refuses", async () => {
    const answer = await upgradeToStream(await serve(null), { body: { Tty: false } });
    expect(answer).toMatchObject({ statusCode: 404 });
    (answer as http.IncomingMessage).resume();
  });

  it("ends with its signal before the stream is open, and not after", async () => {
    const controller = new AbortController();
    const silent = upgradeToStream(await serve(vi.fn()), { signal: controller.signal });
    controller.abort();
    await expect(silent).rejects.toThrow("aborted");
    server.close();

    const late = new AbortController();
    const opened = await upgradeToStream(await serve((socket) => socket.write(accept)), { signal: late.signal });
    late.abort();
    if (!("socket" in opened) || opened instanceof http.IncomingMessage) throw new Error("not upgraded");
    expect(opened.socket.destroyed).toBe(false);
    opened.socket.destroy();
  });
});
