import type { FastifyInstance, FastifyReply } from "fastify";
import { HttpRefusal } from "../server/http-refusal.ts";
import { digest, openConsoleAssets, type ConsoleAssets } from "./console-files.ts";

/** Where previews are reached, which the console shows in a frame: a source of a content policy, known once the server listens. */
type FrameSource = () => string;

/**
 * `/`: the console, and the two files that it loads. They are open to everyone and contain nothing about this
 * deployment; the page gets what it shows from the API, with its user's token.
 */
export function addConsoleRoutes(app: FastifyInstance, frameSource: FrameSource): void {
  const open = { config: { isOpen: true } };
  let opening: Promise<ConsoleAssets> | undefined;
  const assets = (): Promise<ConsoleAssets> => {
    opening ??= openConsoleAssets().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  app.get("/", open, async (request, reply) => {
    const { html } = await assets();
    const tag = `"${digest(html)}"`;
    void reply.headers({ ...safeHeaders, "content-security-policy": contentPolicy(frameSource()) });
    void reply.headers({ "cache-control": "no-cache", etag: tag });
    if (request.headers["if-none-match"] === tag) return reply.code(304).send();
    return reply.type("text/html; charset=utf-8").send(html);
  });
  app.get<{ Params: { file: string } }>("/console/:file", open, async (request, reply) => {
    const { script, style, scriptName, styleName } = await assets();
    if (request.params.file === scriptName) return sendFile(reply, "text/javascript; charset=utf-8", script);
    if (request.params.file === styleName) return sendFile(reply, "text/css; charset=utf-8", style);
    throw new HttpRefusal(404, "NOT_FOUND", "The console has no such file.", {
      suggestion: "Load / again: its files have new names after an update.",
    });
  });
}

/** Its name changes with its content. */
function sendFile(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply
    .headers({ ...safeHeaders, "cache-control": "public, max-age=31536000, immutable" })
    .type(type)
    .send(text);
}

const safeHeaders = {
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/**
 * Only our own files run, nothing is inserted as HTML, nothing else is loaded or requested, and no page may frame this
 * one.
 */
function contentPolicy(frameSource: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `frame-src ${frameSource}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}
