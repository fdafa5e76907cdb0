/** Bytes that an answer leaves out, since base64 in JSON is useless to a model. */
export interface LeftOutBytes {
  /** Path of the field that held them, such as `artifacts[0].content`. */
  readonly field: string;
  readonly base64: string;
  readonly mediaType: string;
}

/** How the base64 of pictures that models accept begins, by media type. */
const pictureBeginnings: Readonly<Record<string, string>> = {
  "image/png": "iVBORw0KGgo",
  "image/jpeg": "/9j/",
  "image/gif": "R0lGOD",
  "image/webp": "UklGR",
};

/** The kind of picture, from its first bytes; null if models do not accept it. */
export function pictureType(base64: string): string | null {
  const found = Object.entries(pictureBeginnings).find(([, beginning]) => base64.startsWith(beginning));
  return found?.[0] ?? null;
}

/** The value with each base64 content replaced by `words`. */
export function leaveOutBytes(value: unknown, words: (bytes: LeftOutBytes) => string, field = ""): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => leaveOutBytes(item, words, `${field}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return value;
  const owner = value as Readonly<Record<string, unknown>>;
  const { encoding, content, media_type: mediaType } = owner;
  const path = (key: string): string => (field === "" ? key : `${field}.${key}`);
  if (encoding === "base64" && typeof content === "string" && content !== "") {
    const told = typeof mediaType === "string" ? mediaType : "application/octet-stream";
    const bytes = { field: path("content"), base64: content, mediaType: pictureType(content) ?? told };
    return { ...owner, content: words(bytes) };
  }
  return Object.fromEntries(Object.entries(owner).map(([key, part]) => [key, leaveOutBytes(part, words, path(key))]));
}
