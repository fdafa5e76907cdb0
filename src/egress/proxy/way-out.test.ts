import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { UpstreamProxy } from "../../policy/network/upstream-proxy.ts";
import { connectThrough, type TunnelFault } from "./way-out.ts";

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

async function connectTo(
  serve: (socket: Socket) => void,
  { withinMs = 15_000, ...more }: Partial<UpstreamProxy> & { readonly withinMs?: number } = {},
): Promise<Socket | TunnelFault> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const plain = { variable: "HTTPS_PROXY", isSecure: false, host: "proxy.test", authorization: null, direct: [] };
  const proxy = { ...plain, port, resolvesNames: false, ...more };
  const tunnel = connectThrough(proxy, { addresses: ["127.0.0.1"], authority: "web.test:443", withinMs });
  const { promise, resolve } = Promise.withResolvers<TunnelFault>();
  const timer = setTimeout(resolve, 20_000, { reason: "nothing came of it", isOfFarSide: false });
  return Promise.race([tunnel, promise]).finally(() => clearTimeout(timer));
}

const soon = { withinMs: 500 };
const late = { reason: expect.stringContaining("did not answer within 0.5 s"), isOfFarSide: false };

it("gives a proxy up that says nothing, and closes its connection", async () => {
  const closed = Promise.withResolvers<void>();
  expect(await connectTo((socket) => socket.once("close", closed.resolve).resume(), soon)).toEqual(late);
  await closed.promise;
});

it("gives a proxy up that sends a byte from time to time", async () => {
  const fault = await connectTo((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nX: ");
    const more = setInterval(() => socket.write("x"), 50);
    socket.once("close", () => clearInterval(more));
  }, soon);
  expect(fault).toEqual(late);
});

it("gives a proxy up that never finishes TLS", async () => {
  expect(await connectTo((socket) => socket.resume(), { isSecure: true, ...soon })).toEqual(late);
});

it("takes nothing that speaks no TLS for a proxy that does", async () => {
  const fault = await connectTo((socket) => socket.write("HTTP/1.1 200 OK\r\n\r\n"), { isSecure: true });
  expect(fault).toEqual({ reason: expect.stringContaining("check HTTPS_PROXY"), isOfFarSide: false });
});

it("says what is to be checked when nothing listens", async () => {
  const fault = await connectTo(() => undefined, { port: 1 });
  expect(fault).toEqual({
    reason: expect.stringMatching(/could not be connected to \(ECONNREFUSED\): check HTTPS_PROXY/),
    isOfFarSide: false,
  });
});

it("asks a proxy without a password for a user and a password", async () => {
  const fault = await connectTo((socket) => socket.write("HTTP/1.1 407 No\r\n\r\n"));
  expect(fault).toEqual({ reason: expect.stringContaining("demands a user and a password (407)"), isOfFarSide: false });
});
