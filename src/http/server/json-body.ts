import type { FastifyInstance } from "fastify";
import { mebibyte } from "../../base/bytes.ts";
import { translateError } from "./translate-error.ts";

/** Larger than any valid request, so that errors can name the field that is too large. */
export const maxBodyBytes: number = 64 * mebibyte;

/** Accepts JSON in UTF-8 and nothing else; an empty body counts as none. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(body as Buffer);
    } catch {
      return done(translateError({ code: "FST_ERR_CTP_INVALID_JSON_BODY" }));
    }
    // The original message quotes the parser.
    return parse(request, text, (error, parsed) => done(error === null ? null : translateError(error), parsed));
  });
}
