import type { FastifyInstance } from "fastify";
import { callerOf } from "../auth/caller.ts";
import { jsonType } from "../server/wire-answer.ts";
import type { ApiPaths } from "../openapi/document.ts";
import { json } from "../openapi/shared-parts.ts";
import { ticketSeconds, type Tickets } from "./tickets.ts";

/** `POST /api/tickets`: a ticket with which a page opens a WebSocket, as `?ticket=`. */
export function addTicketRoute(app: FastifyInstance, tickets: Tickets): void {
  app.post("/api/tickets", (request, reply) => {
    const ticket = tickets.make(callerOf(request));
    return reply.type(jsonType).send(JSON.stringify({ ticket, expires_in_seconds: ticketSeconds }));
  });
}

/** The same for the API's document. */
export const ticketPaths: ApiPaths = {
  "/api/tickets": {
    post: {
      operationId: "make_ticket",
      summary: "A ticket that opens one WebSocket.",
      description: `For browsers, which cannot send a header with it: \`?ticket=\` opens one WebSocket within ${ticketSeconds} s.`,
      responses: {
        "200": {
          description: "The ticket.",
          content: json({
            type: "object",
            required: ["ticket", "expires_in_seconds"],
            properties: { ticket: { type: "string" }, expires_in_seconds: { type: "integer" } },
          }),
        },
      },
    },
  },
};
