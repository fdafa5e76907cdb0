import type { FastifyInstance } from "fastify";
import { apiDocument, type ApiPaths } from "../openapi/document.ts";
import { documentationPage } from "../openapi/documentation-page.ts";
import { jsonType } from "../server/wire-answer.ts";
import type { RouteContext } from "./route-context.ts";

/** Nothing of the page may load or do anything. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** `/openapi.json`, and `/docs` for people; both are open, and contain nothing about this deployment. */
export function addDocumentRoutes(
  app: FastifyInstance,
  { version, operations }: RouteContext,
  extraPaths: ApiPaths | undefined,
): void {
  const document = apiDocument({ version, operations, extraPaths });
  const texts = { json: JSON.stringify(document), html: documentationPage(document) };
  const open = { config: { isOpen: true } };
  app.get("/openapi.json", open, (_, reply) => reply.type(jsonType).send(texts.json));
  app.get("/docs", open, (_, reply) =>
    reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy).send(texts.html),
  );
}
