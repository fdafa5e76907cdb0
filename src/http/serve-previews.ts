import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Platform } from "../platform/platform.ts";

type Gateway = Platform["previewGateway"];

/**
 * Passes requests for previews' host names to them before any part of the API sees them: its routes, guard, headers and
 * cookies (there are none) belong to another origin.
 */
export function servePreviews(app: FastifyInstance, gateway: Gateway): void {
  app.addHook("onRequest", async (request, reply) => void handOver(gateway, request, reply));
  // A page that stays open would keep the server from exiting.
  app.addHook("preClose", async () => gateway.close());
}

/** Whether a request was for a preview, which has then answered it. */
export function handOver(gateway: Gateway, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (!gateway.takes(raw)) return false;
  reply.hijack();
  gateway.handle(raw, reply.raw);
  return true;
}

/** The same for WebSockets; call this after all other listeners for upgrades have been added. */
export function divertUpgrades({ server }: FastifyInstance, gateway: Gateway): void {
  const others = server.listeners("upgrade");
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (gateway.takes(request)) return gateway.upgrade(request, socket, head);
    for (const listener of others) listener.call(server, request, socket, head);
  });
}
