import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatBytes, mebibyte } from "../../base/bytes.ts";
import { readBody } from "../../base/http/read-body.ts";
import { assertBoundedJson } from "../../base/json-text.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import { LoopTurns } from "../../calls/loop-turns.ts";
import { inputType } from "../../operations/contract/operation-contract.ts";
import { holdBody } from "./hold-bytes.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { readRequestLine } from "./request-input.ts";
import { translateError } from "./translate-error.ts";

/** Maximum body of a route: 1 MiB, which ids, commands and settings never fill. */
export const maxBodyBytes: number = mebibyte;
/** Of a route whose requests carry programs and files: the largest file, 10 MiB, has 14 MiB as base64. */
export const maxContentBodyBytes: number = 16 * mebibyte;

/**
 * Accepts JSON in UTF-8, as large as its route allows, and where the route takes it also a line of JSON that standard input
 * follows; nothing else. An empty body counts as none.
 */
export function readJsonBodies(app: FastifyInstance, inFlight: BytesInFlight): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.decorateRequest("input", null);
  const turns = new LoopTurns();
  app.addContentTypeParser("application/json", async (request: FastifyRequest) => {
    const { bodyLimit: maxBytes } = request.routeOptions;
    const held = holdBody(request, inFlight);
    const body = await readBody(request.raw, { maxBytes, onHold: (bytes) => held.set(bytes) }).catch(
      (error: unknown) => {
        throw request.raw.errored === null ? error : translateError({ code: "FST_ERR_CTP_INVALID_CONTENT_LENGTH" });
      },
    );
    if (body === null) throw tooLarge(maxBytes);
    return body.length === 0 ? undefined : parseJson(request, body);
  });
  app.addContentTypeParser(inputType, async (request: FastifyRequest) => {
    const { bodyLimit: maxBytes, config } = request.routeOptions;
    if (config.takesInput !== true) throw translateError({ code: "FST_ERR_CTP_INVALID_MEDIA_TYPE" });
    const held = holdBody(request, inFlight);
    const line = await readRequestLine(request, { maxBytes, onHold: (bytes) => held.set(bytes) });
    if (line === null) throw tooLarge(maxBytes);
    return parseJson(request, line);
  });

  async function parseJson(request: FastifyRequest, body: Buffer): Promise<unknown> {
    await turns.take(request.caller?.principal ?? "");
    assertBoundedJson(body);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    } catch {
      throw translateError({ code: "FST_ERR_CTP_INVALID_JSON_BODY" });
    }
    const parsed = Promise.withResolvers<unknown>();
    // The original message quotes the parser.
    void parse(request, text, (error, value) =>
      error === null ? parsed.resolve(value) : parsed.reject(translateError(error)),
    );
    return parsed.promise;
  }
}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, "INVALID_REQUEST", `body: expected at most ${formatBytes(maxBytes)}, got more.`, {
    suggestion: "Send less in one request: write large files in pieces, stream them through /unpack, or package them.",
    context: { field: "body", max_bytes: maxBytes },
  });
}
