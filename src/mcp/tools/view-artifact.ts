import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { KeptTexts } from "../../calls/kept-texts.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { pictureType } from "./leave-out-bytes.ts";
import { jsonSchema } from "./json-schema.ts";

const request = z.strictObject({ uri: z.string() });

/** Maximum characters of a text in one answer. */
const maxCharacters = 8000;

/**
 * Shows what an answer left out. Its own answer is content only, without a structured half, so that clients that prefer
 * structured content pass this on, pictures included.
 */
export const viewArtifactTool: Tool = {
  name: "view_artifact",
  title: "View a result file",
  description: "Shows a picture that an answer named by its glovebox:// URI, for 15 minutes.",
  inputSchema: jsonSchema(request, "input") as Tool["inputSchema"],
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

/** How a model requests something that an answer left out. */
export function viewCall(uri: string): string {
  return `${viewArtifactTool.name} ${JSON.stringify({ uri })}`;
}

/** @throws INVALID_REQUEST, NOT_FOUND if it is no longer kept, UNSUPPORTED if it is neither picture nor text */
export function viewArtifact(texts: KeptTexts, principal: string, given: unknown): CallToolResult {
  const { uri } = parseRequest({ request }, given);
  const kept = texts.find(uri, principal);
  if (kept === null) {
    throw new GloveboxError("NOT_FOUND", `There is no artifact ${JSON.stringify(uri.slice(0, 200))}.`, {
      suggestion: "Artifacts are kept for 15 minutes; run the program again and take the URI from its answer.",
      context: { field: "uri" },
    });
  }
  const { text, mediaType } = kept;
  if (mediaType === null) return { content: [{ type: "text", text: text.slice(0, maxCharacters) }] };
  const picture = pictureType(text);
  if (picture !== null) {
    // The text is for clients that pass on only text: without it their model would see an empty answer.
    const words = `${kept.field}: ${picture}, ${Buffer.byteLength(text, "base64")} bytes, shown as a picture.`;
    return {
      content: [
        { type: "image", data: text, mimeType: picture },
        { type: "text", text: words },
      ],
    };
  }
  throw new GloveboxError("UNSUPPORTED", `${kept.field} is ${mediaType}, which cannot be shown.`, {
    suggestion:
      "Only PNG, JPEG, GIF and WebP pictures can be shown: read the file in a program and print what it holds.",
    context: { media_type: mediaType },
  });
}
