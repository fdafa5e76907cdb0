import type { FastifyInstance } from "fastify";
import { mebibyte } from "../../base/bytes.ts";
import { translateError } from "./translate-error.ts";

/** Above every request that can be valid, so that those are refused by the name of their field. */
export const maxBodyBytes: number = 64 * mebibyte;

/** Takes JSON in UTF-8 and nothing else; a body of no bytes is none. */
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
    // Its own message quotes the parser.
    return parse(request, text, (error, parsed) => done(error === null ? null : translateError(error), parsed));
  });
}
