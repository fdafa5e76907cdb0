import { plainText } from "../../../base/plain-text.ts";

/** The value with all texts plain, except the content of files, which is unchanged. */
export function withPlainTexts(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(withPlainTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === "content" ? part : withPlainTexts(part)]),
  );
}
