import {
  ProtocolError,
  ProtocolErrorCode,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { KeptTexts } from "../calls/kept-texts.ts";

/** Maximum characters of a text that one read returns. */
const maxReadCharacters = 65_536;

/** The long fields of earlier answers, as resources. */
export function listResources(texts: KeptTexts, principal: string): ListResourcesResult {
  return {
    resources: texts.list(principal).map(({ uri, operation, field, mediaType, text }) => ({
      uri,
      name: `${field} of ${operation}`,
      description: `${text.length} characters${mediaType === null ? "" : " of base64"}.`,
      mimeType: mediaType ?? "text/plain",
    })),
  };
}

export function listResourceTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        name: "Long fields of answers",
        uriTemplate: "glovebox://runs/{run_id}/{field}{?offset}",
        description: `What an answer left out, for 15 minutes: a text ${maxReadCharacters} characters at a time, from offset.`,
      },
    ],
  };
}

/** @throws ProtocolError if there is no such resource (any more) */
export function readResource(texts: KeptTexts, principal: string, asked: string): ReadResourceResult {
  const [uri = "", query = ""] = asked.split("?", 2);
  const kept = texts.find(uri, principal);
  if (kept === null) throw notFound(asked);
  if (kept.mediaType !== null) {
    return { contents: [{ uri: asked, mimeType: kept.mediaType, blob: kept.text }] };
  }
  const offset = Number(new URLSearchParams(query).get("offset") ?? 0);
  if (!Number.isSafeInteger(offset) || offset < 0) throw notFound(asked);
  const text = kept.text.slice(offset, offset + maxReadCharacters);
  const end = offset + text.length;
  const rest = end < kept.text.length ? { "glovebox/next": `${uri}?offset=${end}` } : {};
  return {
    contents: [
      { uri: asked, mimeType: "text/plain", text, _meta: { "glovebox/characters": kept.text.length, ...rest } },
    ],
  };
}

function notFound(uri: string): ProtocolError {
  const error = new GloveboxError("NOT_FOUND", `No resource ${JSON.stringify(uri.slice(0, 200))}.`, {
    suggestion: "Answers are kept for 15 minutes; run the tool again. Offsets count characters.",
  });
  return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { uri, ...error.toWire() });
}
