import type { BlobResourceContents, TextResourceContents } from "@modelcontextprotocol/server";
import { onePixel } from "./fixture-handlers.ts";

/** A fixed resource of the conformance suite, or one that matches its template; null for any other URI. */
export function fixtureContents(uri: string): (TextResourceContents | BlobResourceContents)[] | null {
  if (uri === "test://static-text") {
    return [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }];
  }
  if (uri === "test://static-binary") return [{ uri, mimeType: "image/png", blob: onePixel }];
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return null;
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return [{ uri, mimeType: "application/json", text }];
}
