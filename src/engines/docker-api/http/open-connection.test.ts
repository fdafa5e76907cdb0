import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http, { type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import type { TcpEndpoint } from "./endpoint.ts";
import { connectOptions, openConnection, type ApiConnection } from "./api.ts";

const closers: (() => void)[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
  sockets.length = 0;
});

async function serve(answer: RequestListener, address?: string): Promise<TcpEndpoint> {
  const server = http.createServer(answer);
  server.on("connection", (socket: Socket) => sockets.push(socket));
  if (address === undefined) server.listen(0, "127.0.0.1");
  else server.listen(address);
  await once(server, "listening");
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const port = address === undefined ? (server.address() as AddressInfo).port : 0;
  return { kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "DOCKER_HOST" };
}

function connect(endpoint: Parameters<typeof openConnection>[0]): ApiConnection {
  const connection = openConnection(endpoint);
  closers.push(() => connection.close());
  return connection;
}

const echo: RequestListener = (request, response) => {
  const { method, url, headers } = request;
  void textOf(request).then((body) => {
    const { "content-type": type, "content-length": length, connection } = headers;
    response.end(JSON.stringify({ method, url, type, length, connection, body }));
  });
};

async function answerOf(response: IncomingMessage): Promise<object> {
  return JSON.parse(await textOf(response)) as object;
}

const question = { method: "GET", path: "/info" } as const;

describe("openConnection", () => {
  it("sends a query, a body as JSON and an archive, of known length or not", async () => {
    const connection = connect(await serve(echo));
    const asked = await connection.send({ ...question, query: { a: "b c" } });
    expect(await answerOf(asked)).toMatchObject({ method: "GET", url: "/info?a=b+c", body: "" });
    const told = await connection.send({ method: "POST", path: "/x", body: { é: 1 } });
    expect(await answerOf(told)).toMatchObject({ type: "application/json", length: "8", body: '{"é":1}' });
    const empty = await connection.send({ method: "POST", path: "/x" });
    expect(await answerOf(empty)).toMatchObject({ length: "0", body: "" });
    const put = { method: "PUT", path: "/x" } as const;
    const whole = await connection.send({ ...put, archive: Buffer.from("tar") });
    expect(await answerOf(whole)).toMatchObject({ type: "application/x-tar", length: "3", body: "tar" });
    const pieces = (async function* () {
      yield Buffer.from("ta");
      yield Buffer.from("r");
    })();
    const piecewise = await connection.send({ ...put, archive: pieces });
    expect(await answerOf(piecewise)).toMatchObject({ body: "tar", connection: "close" });
  });

  it("reaches a socket by its path, and a Windows pipe by the name that Node asks for", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-connection-"));
    closers.push(() => rmSync(folder, { recursive: true }));
    const socket = path.join(folder, "engine.sock");
    await serve(echo, socket);
    const origin = "the default socket";
    const response = await connect({ kind: "socket", path: socket, origin }).send(question);
    expect(await answerOf(response)).toMatchObject({ url: "/info" });
    expect(connectOptions({ kind: "socket", path: "//./pipe/docker_engine", origin })).toEqual({
      socketPath: String.raw`\\.\pipe\docker_engine`,
    });
    expect(connectOptions({ kind: "socket", path: "/run/d.sock", origin })).toEqual({ socketPath: "/run/d.sock" });
  });

  it("uses one connection again, and asks once more when it was closed in that moment", async () => {
    let requests = 0;
    const endpoint = await serve((request, response) => {
      requests += 1;
      // The second request of a connection is the one that finds it closed.
      if (requests === 2) request.socket.destroy();
      else response.end("{}");
    });
    const connection = connect(endpoint);
    await textOf(await connection.send(question));
    await textOf(await connection.send(question));
    expect({ requests, connections: sockets.length }).toEqual({ requests: 3, connections: 2 });
    await textOf(await connection.send(question));
    expect(sockets).toHaveLength(2);
  });

  it("asks nothing twice that does something", async () => {
    let requests = 0;
    const endpoint = await serve((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.destroy();
      else response.end("{}");
    });
    const connection = connect(endpoint);
    await textOf(await connection.send(question));
    await expect(connection.send({ method: "POST", path: "/x" })).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(requests).toBe(2);
  });

  it("is broken off by the signal, by its own end, and by an archive that cannot be read", async () => {
    const connection = connect(await serve(() => undefined));
    const controller = new AbortController();
    const given = connection.send({ ...question, signal: controller.signal });
    controller.abort();
    await expect(given).rejects.toMatchObject({ name: "AbortError" });
    const broken = (async function* () {
      yield Buffer.from("ta");
      throw new Error("unreadable");
    })();
    await expect(connection.send({ method: "PUT", path: "/x", archive: broken })).rejects.toThrow("unreadable");
    const pending = connection.send(question);
    setTimeout(() => connection.close(), 50);
    await expect(pending).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("gives Node's error when nothing listens there", async () => {
    const endpoint = { kind: "socket", path: "/nonexistent/engine.sock", origin: "the default socket" } as const;
    await expect(connect(endpoint).send(question)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
