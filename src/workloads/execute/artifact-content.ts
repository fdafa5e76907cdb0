/** The kind of an artifact. */
export type ArtifactType = "image" | "table" | "text" | "binary";

/** The content of an artifact, ready for JSON. */
export interface ArtifactContent {
  readonly mediaType: string;
  readonly type: ArtifactType;
  /** `utf8` for valid UTF-8 without NUL, `base64` for everything else. */
  readonly encoding: "utf8" | "base64";
  readonly content: string;
}

const magicNumbers: readonly { readonly mediaType: string; readonly at: number; readonly bytes: string }[] = [
  { mediaType: "image/png", at: 0, bytes: "\x89PNG\r\n\x1a\n" },
  { mediaType: "image/jpeg", at: 0, bytes: "\xff\xd8\xff" },
  { mediaType: "image/gif", at: 0, bytes: "GIF87a" },
  { mediaType: "image/gif", at: 0, bytes: "GIF89a" },
  { mediaType: "image/webp", at: 8, bytes: "WEBPVP8" },
  { mediaType: "application/pdf", at: 0, bytes: "%PDF-" },
  { mediaType: "application/zip", at: 0, bytes: "PK\x03\x04" },
];

const textEndings: Readonly<Record<string, string>> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  html: "text/html",
  md: "text/markdown",
  xml: "application/xml",
};

const binaryEndings: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  zip: "application/zip",
};

/** An SVG image, after what XML allows before its first element. */
const svg =
  /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,1000}-->\s*)?(?:<!DOCTYPE svg[^>]{0,500}>\s*)?<svg[\s>]/i;

/** Detects what a file is from its bytes; its name decides only between kinds of text. */
export function describeContent(path: string, bytes: Uint8Array): ArtifactContent {
  const binary = { encoding: "base64", content: Buffer.from(bytes).toString("base64") } as const;
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  const magic = magicNumbers.find((known) => start.startsWith(known.bytes, known.at));
  if (magic !== undefined) return { mediaType: magic.mediaType, type: typeOf(magic.mediaType, "binary"), ...binary };
  const text = asText(bytes);
  if (text === null) return { mediaType: "application/octet-stream", type: "binary", ...binary };
  const mediaType = svg.test(text.slice(0, 4096)) ? "image/svg+xml" : (textEndings[endingOf(path)] ?? "text/plain");
  return { mediaType, type: typeOf(mediaType, "text"), encoding: "utf8", content: text };
}

/** The same for a file that was not read: only by its name. */
export function describeUnread(path: string): ArtifactContent {
  const ending = endingOf(path);
  const mediaType = binaryEndings[ending] ?? textEndings[ending] ?? "application/octet-stream";
  const type = typeOf(mediaType, textEndings[ending] === undefined ? "binary" : "text");
  return { mediaType, type, encoding: "utf8", content: "" };
}

function typeOf(mediaType: string, otherwise: ArtifactType): ArtifactType {
  if (mediaType.startsWith("image/")) return "image";
  return mediaType === "text/csv" || mediaType === "text/tab-separated-values" ? "table" : otherwise;
}

function endingOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

function asText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not text; that is the answer.
    return null;
  }
}
