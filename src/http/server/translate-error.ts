import { errorCode, toGloveboxError, type GloveboxError } from "../../errors/glovebox-error.ts";
import { HttpRefusal } from "./http-refusal.ts";

const badJson = (message: string): HttpRefusal =>
  new HttpRefusal(400, "INVALID_REQUEST", message, {
    suggestion: "Send one JSON object in UTF-8 as the body, with the Content-Type application/json.",
    context: { field: "body" },
  });

/** The framework's own refusals, by its error codes. */
const refusals: Readonly<Record<string, () => HttpRefusal>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: () => badJson("body: expected JSON, got something else."),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => badJson("body: expected JSON, got nothing."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badJson("body: its length differs from Content-Length."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new HttpRefusal(415, "INVALID_REQUEST", "body: expected the Content-Type application/json.", {
      suggestion: "Send JSON, with the header Content-Type: application/json.",
      context: { field: "body" },
    }),
  FST_ERR_BAD_URL: () => badUrl(),
  FST_ERR_MAX_PARAM_LENGTH: () => badUrl(),
};

/** The error as sent to a client; it reveals nothing about an unexpected one. */
export function translateError(error: unknown): GloveboxError {
  return refusals[errorCode(error)]?.() ?? refusedByFramework(error) ?? toGloveboxError(error);
}

/** Other errors that the framework finds in a request. */
function refusedByFramework(error: unknown): HttpRefusal | null {
  if (!errorCode(error).startsWith("FST_ERR_")) return null;
  const { statusCode: status } = error as { readonly statusCode?: unknown };
  if (typeof status !== "number" || status < 400 || status >= 500) return null;
  return new HttpRefusal(status, "INVALID_REQUEST", "The request is not valid HTTP for this path.", {
    suggestion: "See /docs for what this path accepts.",
  });
}

function badUrl(): HttpRefusal {
  return new HttpRefusal(400, "INVALID_REQUEST", "url: malformed, or a part is too long.", {
    suggestion: "Percent-encode (as UTF-8) all characters except letters, digits and -._~.",
    context: { field: "url" },
  });
}
