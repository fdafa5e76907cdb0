import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Platform } from "../../platform/platform.ts";

type Gateway = Platform["previewGateway"];

/**
 * Hands requests for the names of previews to them before anything of the API sees them: its routes, its guard, its headers
 * and its cookies, of which there are none, are another origin's.
 */
export function servePreviews(app: FastifyInstance, gateway: Gateway): void {
  app.addHook("onRequest", async (request, reply) => void handOver(gateway, request, reply));
  // A page that stays open would keep the server from ending.
  app.addHook("preClose", async () => gateway.close());
}

/** Whether a request was a preview's, which has answered it then. */
export function handOver(gateway: Gateway, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (!gateway.takes(raw)) return false;
  reply.hijack();
  gateway.handle(raw, reply.raw);
  return true;
}

/** The same for WebSockets; to be called when all that listens to upgrades of the server does so. */
export function divertUpgrades({ server }: FastifyInstance, gateway: Gateway): void {
  const others = server.listeners("upgrade");
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (gateway.takes(request)) return gateway.upgrade(request, socket, head);
    for (const listener of others) listener.call(server, request, socket, head);
  });
}
